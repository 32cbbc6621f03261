/*
 * A tool of the build: `embed OUT FILE…` writes a C file that holds the files as the slices that
 * fs/views/pictures/assets.h declares: page.css is pmfs_asset_page_css.
 */
#include <stdio.h>
#include <string.h>

/* The bytes as a string literal, one line of C for each line of text. */
static void write_literal(FILE *in, FILE *out)
{
	fputs("\t\"", out);
	for (int c; (c = getc(in)) != EOF;) {
		if (c == '\n')
			fputs("\\n\"\n\t\"", out);
		else if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < 0x20 || c > 0x7e || c == '?')
			fprintf(out, "\\%03o", (unsigned)c);
		else
			putc(c, out);
	}
	fputs("\"", out);
}

static void write_name(const char *path, FILE *out)
{
	const char *slash = strrchr(path, '/');
	for (const char *c = slash ? slash + 1 : path; *c; c++)
		putc(*c == '.' || *c == '-' ? '_' : *c, out);
}

static int embed(const char *path, FILE *out)
{
	FILE *in = fopen(path, "rb");
	if (!in) {
		perror(path);
		return 1;
	}
	fputs("\nstatic const char text_of_", out);
	write_name(path, out);
	fputs("[] =\n", out);
	write_literal(in, out);
	fputs(";\nconst struct pm_bytes pmfs_asset_", out);
	write_name(path, out);
	fputs(" = {(const uint8_t *)text_of_", out);
	write_name(path, out);
	fputs(", sizeof(text_of_", out);
	write_name(path, out);
	fputs(") - 1};\n", out);
	int bad = ferror(in);
	fclose(in);
	return bad;
}

int main(int argc, char **argv)
{
	FILE *out = argc > 1 ? fopen(argv[1], "wb") : NULL;
	if (!out) {
		perror(argc > 1 ? argv[1] : "embed OUT FILE...");
		return 1;
	}
	fputs("#include \"fs/views/pictures/assets.h\"\n", out);
	int bad = 0;
	for (int i = 2; i < argc; i++)
		bad |= embed(argv[i], out);
	return fclose(out) != 0 || bad;
}
