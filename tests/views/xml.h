/*
 * Checks that a text is well-formed XML, without DTDs and namespace prefixes, which pictures do not
 * use.
 */
#ifndef PROFMOUNT_TESTS_VIEWS_XML_H
#define PROFMOUNT_TESTS_VIEWS_XML_H

/* Fails the test at the first fault: tags, attributes, entities, characters. */
void assert_xml(const char *text);

/* How often `part` occurs. */
unsigned count_of(const char *text, const char *part);

#endif
