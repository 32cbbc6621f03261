/* Is a text well-formed XML? As far as the pictures use it: no DTD, no namespaces prefixes. */
#ifndef PROFMOUNT_TESTS_VIEWS_XML_H
#define PROFMOUNT_TESTS_VIEWS_XML_H

/* Fails the test at the first fault: tags, attributes, entities, characters. */
void assert_xml(const char *text);

/* How often `part` occurs. */
unsigned count_of(const char *text, const char *part);

#endif
