/* Words to leave out, and vocabularies fixed beforehand: lists of words from files.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The English list is this project's own: the function words of the language (articles, pronouns,
 * auxiliaries, conjunctions, prepositions, determiners, common adverbs and number words), a few verbs that
 * carry no topic, and the pieces that the tokeniser leaves of contractions ("don't" -> don, t). Words are
 * compared as tokens are spelt: case folded and composed, before stemming. */
#include "text/text.h"

static const char *const english[] = {
	"a",          "about",        "above",      "across",     "after",      "again",
	"against",    "ago",          "ahead",      "ain",        "all",        "almost",
	"along",      "alongside",    "already",    "also",       "although",   "altogether",
	"always",     "am",           "amid",       "among",      "amongst",    "an",
	"and",        "another",      "any",        "anybody",    "anyhow",     "anyone",
	"anything",   "anyway",       "anywhere",   "apart",      "are",        "aren",
	"arent",      "around",       "as",         "aside",      "at",         "away",
	"back",       "be",           "became",     "because",    "become",     "becomes",
	"becoming",   "been",         "before",     "behind",     "being",      "below",
	"beneath",    "beside",       "besides",    "between",    "beyond",     "both",
	"but",        "by",           "call",       "called",     "can",        "cannot",
	"cant",       "come",         "concerning", "could",      "couldn",     "couldnt",
	"d",          "despite",      "did",        "didn",       "didnt",      "do",
	"does",       "doesn",        "doesnt",     "doing",      "don",        "done",
	"dont",       "down",         "during",     "each",       "eg",         "eight",
	"either",     "eleven",       "else",       "elsewhere",  "enough",     "etc",
	"even",       "ever",         "every",      "everybody",  "everyone",   "everything",
	"everywhere", "except",       "far",        "few",        "fewer",      "fifteen",
	"fifty",      "find",         "first",      "five",       "for",        "former",
	"formerly",   "forth",        "forty",      "found",      "four",       "from",
	"further",    "furthermore",  "get",        "gets",       "getting",    "give",
	"given",      "go",           "goes",       "going",      "gone",       "got",
	"gotten",     "had",          "hadn",       "has",        "hasn",       "have",
	"haven",      "having",       "he",         "hence",      "her",        "here",
	"hereby",     "herein",       "hers",       "herself",    "hes",        "him",
	"himself",    "his",          "how",        "however",    "hundred",    "i",
	"id",         "ie",           "if",         "im",         "in",         "indeed",
	"inside",     "instead",      "into",       "is",         "isn",        "isnt",
	"it",         "its",          "itself",     "ive",        "just",       "keep",
	"last",       "later",        "latter",     "latterly",   "least",      "less",
	"lest",       "let",          "lets",       "like",       "ll",         "m",
	"made",       "make",         "many",       "may",        "maybe",      "me",
	"meanwhile",  "merely",       "might",      "mightn",     "mine",       "more",
	"moreover",   "most",         "mostly",     "much",       "must",       "mustn",
	"my",         "myself",       "namely",     "near",       "needn",      "neither",
	"never",      "nevertheless", "next",       "nine",       "no",         "nobody",
	"none",       "nonetheless",  "noone",      "nor",        "not",        "nothing",
	"now",        "nowhere",      "of",         "off",        "often",      "oh",
	"ok",         "okay",         "on",         "once",       "one",        "ones",
	"oneself",    "only",         "onto",       "or",         "other",      "others",
	"otherwise",  "ought",        "our",        "ours",       "ourselves",  "out",
	"outside",    "over",         "own",        "past",       "per",        "perhaps",
	"please",     "put",          "quite",      "rather",     "re",         "really",
	"regarding",  "round",        "s",          "said",       "same",       "say",
	"says",       "see",          "seem",       "seemed",     "seeming",    "seems",
	"seen",       "seldom",       "seven",      "several",    "shall",      "shan",
	"she",        "shes",         "should",     "shouldn",    "show",       "since",
	"six",        "sixty",        "so",         "some",       "somebody",   "somehow",
	"someone",    "something",    "sometime",   "sometimes",  "somewhere",  "soon",
	"still",      "such",         "t",          "take",       "ten",        "than",
	"that",       "thats",        "the",        "their",      "theirs",     "them",
	"themselves", "then",         "thence",     "there",      "thereafter", "thereby",
	"therefore",  "therein",      "thereupon",  "these",      "they",       "theyre",
	"thirty",     "this",         "those",      "though",     "three",      "through",
	"throughout", "thus",         "till",       "to",         "together",   "too",
	"toward",     "towards",      "twelve",     "twenty",     "twice",      "two",
	"under",      "underneath",   "unless",     "unlike",     "until",      "up",
	"upon",       "us",           "ve",         "very",       "via",        "vs",
	"was",        "wasn",         "wasnt",      "we",         "well",       "went",
	"were",       "weren",        "werent",     "what",       "whatever",   "when",
	"whence",     "whenever",     "where",      "whereafter", "whereas",    "whereby",
	"wherein",    "whereupon",    "wherever",   "whether",    "which",      "whichever",
	"while",      "who",          "whoever",    "whom",       "whomever",   "whose",
	"why",        "will",         "with",       "within",     "without",    "won",
	"wont",       "would",        "wouldn",     "yes",        "yet",        "you",
	"your",       "youre",        "yours",      "yourself",   "yourselves",
};

const char *const *kdri_stopwords_english(int64_t *count)
{
	*count = (int64_t)(sizeof english / sizeof english[0]);
	return english;
}

static kdr_status stopwords_add(kdr_context *ctx, kdri_terms *terms, const char *text, size_t length)
{
	int32_t id;
	return kdri_terms_add(ctx, terms, text, length, kdri_term_hash(text, length), &id);
}

/* Blank lines and those that begin with "#" are comments. */
static kdr_status read_stopwords(kdr_context *ctx, const kdr_text_options *options, kdri_terms *terms)
{
	kdr_status st;
	kdri_records *records = NULL;
	char *record, word[1024];
	size_t length;
	int64_t line;
	bool more;
	KDRI_TRY(kdri_records_open(ctx, options->stopwords, &records));
	for (;;) {
		KDRI_TRY(kdri_records_next(ctx, records, '\0', &record, &length, &line, &more));
		if (!more)
			break;
		while (length > 0 && (record[length - 1] == ' ' || record[length - 1] == '\t'))
			length--;
		if (length == 0 || record[0] == '#')
			continue;
		size_t n = kdri_utf8_valid(record, length)
		                   ? kdri_fold_word(!options->keep_case, record, length, word, sizeof word)
		                   : 0;
		if (n == 0) {
			st = kdri_fail(ctx, KDR_ERR_FORMAT,
			               "%s: line %lld: not a word in UTF-8; one word a line is needed",
			               options->stopwords, (long long)line);
			goto done;
		}
		KDRI_TRY(stopwords_add(ctx, terms, word, n));
	}
done:
	kdri_records_close(ctx, records);
	return st;
}

kdr_status kdri_stopwords(kdr_context *ctx, const kdr_text_options *options, kdri_terms **out)
{
	kdr_status st = KDR_OK;
	kdri_terms *terms = NULL;
	if (!options->stopwords || strcmp(options->stopwords, "none") == 0) {
		*out = NULL;
		return KDR_OK;
	}
	KDRI_TRY(kdri_terms_new(ctx, &terms));
	if (strcmp(options->stopwords, "english") == 0) {
		int64_t count;
		const char *const *words = kdri_stopwords_english(&count);
		for (int64_t i = 0; i < count; i++)
			KDRI_TRY(stopwords_add(ctx, terms, words[i], strlen(words[i])));
	} else {
		KDRI_TRY(read_stopwords(ctx, options, terms));
	}
	*out = terms;
	terms = NULL;
done:
	kdri_terms_free(ctx, terms);
	return st;
}

kdr_status kdri_vocabulary_read(kdr_context *ctx, const char *path, kdri_terms **out)
{
	kdr_status st;
	kdri_records *records = NULL;
	kdri_terms *terms = NULL;
	char *record;
	size_t length;
	int64_t line;
	bool more;
	KDRI_TRY(kdri_terms_new(ctx, &terms));
	KDRI_TRY(kdri_records_open(ctx, path, &records));
	for (;;) {
		KDRI_TRY(kdri_records_next(ctx, records, '\0', &record, &length, &line, &more));
		if (!more)
			break;
		int64_t before = terms->count;
		if (memchr(record, '\0', length)) {
			st = kdri_fail(ctx, KDR_ERR_FORMAT, "%s: line %lld: a NUL byte in a term", path,
			               (long long)line);
			goto done;
		}
		KDRI_TRY(stopwords_add(ctx, terms, record, length));
		if (terms->count == before) {
			st = kdri_fail(ctx, KDR_ERR_FORMAT,
			               "%s: line %lld: '%.*s' stands there twice; each term once is needed",
			               path, (long long)line, (int)KDRI_MIN(length, 60), record);
			goto done;
		}
	}
	if (terms->count == 0) {
		st = kdri_fail(ctx, KDR_ERR_FORMAT, "%s: no terms; one a line is needed", path);
		goto done;
	}
	*out = terms;
	terms = NULL;
done:
	kdri_records_close(ctx, records);
	kdri_terms_free(ctx, terms);
	return st;
}
