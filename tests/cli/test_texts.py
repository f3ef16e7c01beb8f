"""Texts given directly to cluster, transfer and predict."""
import csv
import json
import os
import random
import unittest

from harness import CliTest

TOPICS = {"ships": "voyage harbour sailor anchor captain wave deck mast", "bread": "flour oven baker dough pastry crust loaf salt"}
FILLER = "the and of to a in is was it for on with as his that they all"
GERMAN = "und die der in den von zu das mit sich auf für ist nicht es sie er hat wird bei einer"


class TextsTest(CliTest):
    def needs_stemmer(self):
        self.write("stem.txt", "words\n")
        self.run_kindred("vectorize", "-q", "--stemmer", "english", "-o", "stemmed", "stem.txt")


class Texts(TextsTest):
    def folder(self, name, count=20, filler=FILLER, start=0, head=None, ending=""):
        for topic, words in TOPICS.items():
            for i in range(start, start + count):
                own, common = words.split(), filler.split()
                text = " ".join(f"{common[(i + j) % len(common)]} {own[(i * 3 + j) % 8]}{ending if (i + j) % 3 == 0 else ''} "
                                f"{common[(i * 5 + j) % len(common)]}" for j in range(8))
                path = self.path(os.path.join(name, topic, f"{i:03}.txt"))
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w") as f:
                    f.write((head(i) if head else "") + text + f" {topic}{i * 'x'}q\n")

    def names(self, out):
        with open(self.path(out + "/features.csv"), newline="") as f:
            return {row["feature"] for row in csv.DictReader(f)}

    def test_a_header_above_nothing_but_texts(self):
        draw = random.Random(4)
        said = [" ".join(draw.choice(words) for _ in range(40)) for words in ("car wheel road engine".split(), "sun moon star rain".split()) for _ in range(20)]
        for name, lines in (("one.csv", ["text", *said]), ("two.csv", ["title,text", *(f"{t.upper()},{t}" for t in said)]),
                            ("three.csv", ["Export of May", "", "title,text", *(f'"{t.upper()}","{t}, so"' for t in said)])):
            self.write(name, "\n".join(lines) + "\n")
            self.run_kindred("cluster", "-k", 2, "-q", "-o", "out", "--force", "--text-column", "text", name)
            self.assertEqual(len(self.read("out/" + name.replace(".csv", ".labels")).split()), 40, name)  # the header is none of them
            self.assertIn("40 texts", self.run_kindred("inspect", "--text-column", "text", name).stdout)
        self.fails("cluster", "-k", 2, "two.csv", code=3, says="column 2 is free text; use --text-column 2 to count its words, or its title if")
        self.assertIn("use --text-column '2' to compare", self.run_kindred("inspect", "two.csv", code=None).stdout)

    def test_stop_words_rare_words_and_headers_are_removed(self):
        self.folder("texts", head=lambda i: f"From: user{i}@example.org\nSubject: news\nMessage-ID: <{i}@host>\n\n")
        out = self.run_kindred("cluster", "-v", "-k", 2, "-o", "out", "--score", "texts").stdout
        self.assertIn("texts in English (stop words removed", out)
        self.assertIn("headers removed except the Subject", out)
        self.assertIn("words in fewer than 2 documents removed", out)
        result = self.result("out/result.json")
        self.assertEqual(result["tasks"][0]["metrics"]["nmi"], 1)
        self.assertEqual(result["tasks"][0]["d"], 17)  # of two topics, and the Subject
        self.assertTrue(self.names("out") <= set(" ".join(TOPICS.values()).split()) | {"news"})

    def test_explicit_options_win(self):
        self.folder("texts")
        common = ("cluster", "-k", 2, "-q", "--force", "-o", "out")
        sizes = {}
        for name, options in (("auto", ()), ("all", ("--stop-words", "none", "--stemmer", "none", "--min-df", 1)),
                              ("long", ("--min-length", 5)), ("pairs", ("--ngrams", "1,2"))):
            self.run_kindred(*common, *options, "texts")
            sizes[name] = self.result("out/result.json")["tasks"][0]["d"]
        self.assertEqual(sizes["auto"], 16)
        self.assertEqual(sizes["all"], 16 + len(FILLER.split()) - 1 + 40)  # "a" is too short
        self.assertEqual(sizes["long"], 10)
        self.assertGreater(sizes["pairs"], 16)
        self.fails(*common, "--min-df", "1.5", "texts", code=2, says="--min-df")
        self.fails(*common, "--keep-subject", "texts", code=2, says="--strip-mail")
        self.write("t.csv", "x,y\n1,2\n3,4\n5,6\n")
        self.fails(*common, "--stemmer", "none", "t.csv", code=2, says="--text-column")

    def test_other_languages_are_detected(self):
        self.folder("texts", filler=GERMAN)
        out = self.run_kindred("cluster", "-v", "-k", 2, "-o", "out", "texts").stdout
        self.assertIn("texts in German (stop words removed", out)
        self.folder("latin", filler="lorem ipsum dolor sit amet consectetur")
        out = self.run_kindred("cluster", "-v", "-k", 2, "-o", "out2", "latin").stdout
        self.assertIn("texts (no stop words removed)", out)

    def test_stems_are_shown_as_words_and_predict_counts_as_the_fit_did(self):
        self.needs_stemmer()
        self.folder("texts", ending="s")
        self.run_kindred("cluster", "-k", 2, "-q", "-o", "out", "--save-model", "m.h5", "texts")
        self.assertEqual(self.result("out/result.json")["tasks"][0]["d"], 16)
        self.assertTrue({"voyage", "pastry"} <= self.names("out"))  # the stems are "voyag" and "pastri"
        self.assertTrue(self.names("out") <= {w + e for w in " ".join(TOPICS.values()).split() for e in ("", "s")})
        # The same texts with every word in its plural: other words, the same stems.
        for topic, words in TOPICS.items():
            os.makedirs(self.path("new"), exist_ok=True)
            for i in range(4):
                self.write(f"new/{topic}{i}.txt", "the " + " ".join(w + "s" for w in words.split()[i:i + 4]) + "\n")
        labels = self.run_kindred("predict", "--model", "m.h5", "-q", "new").stdout.split()
        self.assertEqual(len(set(labels[:4])), 1)
        self.assertEqual(len(set(labels[4:])), 1)
        self.assertNotEqual(labels[0], labels[4])
        for name in os.listdir(self.path("new")):
            self.write("new/" + name, "quite other words\n")
        self.fails("predict", "--model", "m.h5", "new", code=3, says="none of the 16 words")
        known = self.run_kindred("predict", "--model", "m.h5", "-q", "texts").stdout.split()
        self.assertEqual(known, self.read("out/texts.labels").split())

    def test_transfer_and_columns_of_texts(self):
        self.folder("old")
        self.folder("new", start=40, count=15)
        self.run_kindred("transfer", "--source", "old", "--target", "new", "-q", "-o", "out")
        self.assertEqual(self.read("out/target.labels").split(), ["bread"] * 15 + ["ships"] * 15)
        rows = {"train": ["text,kind"], "test": ["id,text"]}
        for topic, words in TOPICS.items():
            own = words.split()
            rows["train"] += [f'"the {own[i % 8]}, and {own[(i + 3) % 8]} of it",{topic}' for i in range(16)]
            rows["test"] += [f'{i},"they {own[i]} {own[(i + 1) % 8]}"' for i in range(8)]
        for name, lines in rows.items():
            self.write(name + ".csv", "\n".join(lines) + "\n")
        self.run_kindred("transfer", "--source", "train.csv", "--target", "test.csv", "--text-column", "text", "--label-column", "kind",
                         "-q", "-o", "columns", "--save-model", "c.h5")
        self.assertEqual(self.read("columns/target.labels").split(), ["ships"] * 8 + ["bread"] * 8)
        again = self.run_kindred("predict", "--model", "c.h5", "-q", "--text-column", "text", "test.csv").stdout
        self.assertEqual(again.split(), ["ships"] * 8 + ["bread"] * 8)

    def table(self, name="t.csv"):
        """Texts with line breaks, an empty one, blank lines, names and two data sets."""
        rows = [f'r{topic}{i},{"a/b" if i % 2 else "c"},"the {own[i % 8]}, ""{own[(i + 3) % 8]}""\nof {own[(i + 1) % 8]}",{topic}'
                for topic, words in TOPICS.items() for own in [words.split()] for i in range(16)]
        self.write(name, "\n".join(["nr,where,text,kind", *rows[:20], "", " ", *rows[20:], "last,c,,ships"]) + "\n")
        return [row.split(",")[0] for row in rows] + ["last"]

    def test_names_data_sets_and_the_table_written_back(self):
        names = self.table()
        self.run_kindred("cluster", "-k", 2, "-q", "-o", "out", "--text-column", "text", "--id-column", "nr", "--task-column", "where",
                         "--write-table", "back.csv", "--write-columns", "label", "--save-model", "m.h5", "t.csv")
        tasks = {task["name"]: task for task in self.result("out/result.json")["tasks"]}
        self.assertEqual(tasks["a_b"]["ids"], names[1:32:2])
        self.assertEqual(tasks["c"]["ids"], names[0:32:2] + ["last"])
        label = {name: "" if l < 0 else str(l) for task in tasks.values() for name, l in zip(task["ids"], task["labels"])}
        with open(self.path("t.csv"), newline="") as before, open(self.path("back.csv"), newline="") as after:
            self.assertEqual([[*row, "cluster" if row[0] == "nr" else label[row[0]]] if row and row != [" "] else row
                              for row in csv.reader(before)], list(csv.reader(after)))
        self.run_kindred("predict", "--model", "m.h5", "-q", "-o", "p.labels", "--text-column", "text", "--id-column", "nr",
                         "--task-column", "where", "--write-table", "p.csv", "t.csv")
        with open(self.path("p.samples.csv"), newline="") as f:
            self.assertEqual([row["id"] for row in csv.DictReader(f)], names)
        with open(self.path("p.csv"), newline="") as f:
            self.assertEqual([row["cluster"] or "?" for row in csv.DictReader(f) if row["text"] is not None], self.read("p.labels").split())
        done = self.run_kindred("evaluate", "--data", "t.csv", "--text-column", "text", "--id-column", "nr", "--resamples", 0, "p.labels").stdout
        self.assertIn("32 samples, 2 clusters", done)  # one text is empty
        for option in ("--id-column", "--task-column"):
            self.fails("cluster", "-k", 2, "--text-column", "text", option, "nope", "t.csv", code=2, says=f"specify one with {option}")

    def test_fields_of_json_lines_name_texts_and_data_sets(self):
        lines = [json.dumps({"nr": i, "first": i % 2 == 0, "text": TOPICS["ships" if i < 8 else "bread"]}) for i in range(16)]
        self.write("t.jsonl", "\n".join(lines) + "\n")
        self.run_kindred("cluster", "-k", 2, "-q", "-o", "out", "--text-column", "text", "--id-column", "nr", "--task-column", "first", "t.jsonl")
        self.assertEqual({task["name"]: task["ids"] for task in self.result("out/result.json")["tasks"]},
                         {"true": [str(i) for i in range(0, 16, 2)], "false": [str(i) for i in range(1, 16, 2)]})

    def test_inspect_describes_texts(self):
        self.table()
        self.folder("texts", count=10)
        self.write("texts/none.txt", "")
        out = self.run_kindred("inspect", "--text-column", "text", "t.csv", "texts").stdout
        self.assertIn("33 texts, ", out)
        self.assertIn("21 texts, 160 words, of which 16 different\n  texts in English (stop words removed", out)
        self.assertEqual(out.count("1 text is empty, or without any of the words"), 2)
        self.assertIn("t, texts: 16 words in common", out)
        told = json.loads(self.run_kindred("inspect", "--json", "--stop-words", "none", "texts").stdout)["tasks"][0]
        self.assertGreater(told["words"], 160)
        self.assertIn("no stop words removed", told["texts"])
        self.write("notes.csv", "size,note\n" + "".join(f"{i},the ship {i} is at sea\n" for i in [3, 1, 4, 1, 5]))
        self.assertIn("use --text-column 'note' to compare its words", self.run_kindred("inspect", "notes.csv").stdout)

    def test_vectorize_detects_only_if_asked(self):
        self.folder("texts")
        self.run_kindred("vectorize", "-q", "-o", "plain", "texts")
        self.run_kindred("vectorize", "-q", "-o", "chosen", "--detect", "texts")
        self.assertIn("the", self.read("plain/features.txt").split())
        self.assertEqual(sorted(self.read("chosen/features.txt").split()), sorted(" ".join(TOPICS.values()).split()))


LANGUAGES = {
    "Danish": "Vi gik en tur i skoven, fordi vejret var godt, og børnene ville gerne se dyrene. Bagefter drak vi kaffe hos min søster, som ikke havde "
              "været hjemme hele ugen. Hun sagde, at hun aldrig havde set så meget sne, og at vi måtte komme igen, når det blev forår.",
    "Dutch": "We gingen een wandeling maken in het bos, omdat het weer goed was en de kinderen de dieren wilden zien. Daarna dronken we koffie bij "
             "mijn zus, die de hele week niet thuis was geweest.",
    "English": "We went for a walk in the forest because the weather was good and the children wanted to see the animals. Afterwards we had coffee "
               "with my sister, who had not been at home all week.",
    "Finnish": "Me lähdimme kävelylle metsään, koska ilma oli hyvä ja lapset halusivat nähdä eläimiä. Sitten joimme kahvia siskoni luona, joka ei "
               "ollut kotona koko viikkona. Hän sanoi, että hän ei ole nähnyt niin paljon lunta, mutta se on myös kaunista.",
    "French": "Nous sommes allés nous promener dans la forêt parce que le temps était beau et que les enfants voulaient voir les animaux. Ensuite "
              "nous avons bu un café chez ma sœur, qui n'était pas à la maison de toute la semaine.",
    "German": "Wir gingen im Wald spazieren, weil das Wetter gut war und die Kinder die Tiere sehen wollten. Danach tranken wir Kaffee bei meiner "
              "Schwester, die die ganze Woche nicht zu Hause gewesen war.",
    "Hungarian": "Sétálni mentünk az erdőbe, mert jó volt az idő, és a gyerekek látni akarták az állatokat. Utána kávét ittunk a nővéremnél, aki egész "
                 "héten nem volt otthon. Azt mondta, hogy még soha nem volt ilyen sok hó, de majd tavasszal is lehet menni.",
    "Italian": "Siamo andati a fare una passeggiata nel bosco perché il tempo era bello e i bambini volevano vedere gli animali. Poi abbiamo bevuto "
               "un caffè da mia sorella, che non era stata a casa per tutta la settimana.",
    "Norwegian": "Vi gikk en tur i skogen fordi været var godt, og barna ville se dyrene. Etterpå drakk vi kaffe hos min søster, som ikke hadde vært "
                 "hjemme hele uken. Hun sa at hun aldri hadde sett så mye snø, og at vi måtte komme igjen når det ble vår. Nå vet jeg ikke hva noen "
                 "av oss skal gjøre etter det, men jeg spør henne.",
    "Portuguese": "Fomos passear na floresta porque o tempo estava bom e as crianças queriam ver os animais. Depois tomamos café em casa da minha irmã, "
                  "que não tinha estado em casa durante toda a semana, mas ela também não sabe quando eles vão.",
    "Romanian": "Am mers la plimbare în pădure pentru că vremea era bună și copiii voiau să vadă animalele. După aceea am băut o cafea la sora mea, care "
                "nu a fost acasă toată săptămâna.",
    "Russian": "Мы пошли гулять в лес, потому что погода была хорошая и дети хотели увидеть зверей. Потом мы пили кофе у моей сестры, которая не была "
               "дома всю неделю.",
    "Spanish": "Fuimos a pasear por el bosque porque el tiempo era bueno y los niños querían ver los animales. Después tomamos café en casa de mi "
               "hermana, que no había estado en casa durante toda la semana.",
    "Swedish": "Vi gick en promenad i skogen eftersom vädret var bra och barnen ville se djuren. Efteråt drack vi kaffe hos min syster, som inte hade "
               "varit hemma på hela veckan.",
    "Turkish": "Hava güzel olduğu için ormanda yürüyüşe çıktık ve çocuklar hayvanları görmek istedi. Daha sonra bütün hafta evde olmayan kız "
               "kardeşimde kahve içtik, ama bu çok güzel bir gündü ve o da bizim gibi mutlu oldu.",
}
ASIAN = {
    "gb18030": ["今天的天气很好，我们一起去公园散步。孩子们在草地上玩耍，老人们坐在树下聊天。",
                "银行昨天宣布提高利率，市场对此反应强烈，许多公司的股票价格下跌。"],
    "big5": ["今天的天氣很好，我們一起去公園散步。孩子們在草地上玩耍，老人們坐在樹下聊天。",
             "銀行昨天宣布提高利率，市場對此反應強烈，許多公司的股票價格下跌。"],
    "shift_jis": ["今日は天気がとても良いので、私たちは公園へ散歩に行きました。子どもたちは遊んでいます。",
                  "銀行は昨日、金利を引き上げると発表し、多くの会社の株価が下がりました。"],
    "euc_kr": ["오늘은 날씨가 아주 좋아서 우리는 함께 공원에 산책하러 갔다. 아이들은 잔디밭에서 놀고 있다.",
               "은행은 어제 금리를 인상한다고 발표했고 많은 회사의 주가가 떨어졌다."],
    "euc_jp": ["今日は天気がとても良いので、私たちは公園へ散歩に行きました。子どもたちは遊んでいます。",
               "銀行は昨日、金利を引き上げると発表し、多くの会社の株価が下がりました。"],
}
WESTERN = {
    "cp1252": "“It’s over,” she said — they’re café owners. Die Ärzte hörten für Österreich Übles: Äpfel, Öl, Ärger. L’été à Noël, où êtes-vous, garçon?",
    "latin-1": "Señor Muñoz vivió en España muchos años después de la guerra; él también comió piñas y soñó con mañana.",
    "cp1251": "Сегодня очень хорошая погода, и мы вместе пошли гулять в парк. Дети играют на траве, старики сидят под деревом.",
    "koi8-r": "Сегодня очень хорошая погода, и мы вместе пошли гулять в парк. Дети играют на траве, старики сидят под деревом.",
    "cp1253": "Σήμερα ο καιρός είναι πολύ καλός και πήγαμε μαζί στο πάρκο για περίπατο.",
    "tis-620": "วันนี้อากาศดีมาก เราไปเดินเล่นที่สวนสาธารณะด้วยกัน เด็กๆ เล่นอยู่บนสนามหญ้า",
}


class Languages(TextsTest):
    def test_every_language_is_detected(self):
        self.needs_stemmer()
        for name, text in LANGUAGES.items():
            for i in range(4):
                os.makedirs(self.path(name), exist_ok=True)
                self.write(f"{name}/{i}.txt", text + " abc" * i)
            out = self.run_kindred("cluster", "-v", "-m", "kmeans", "-k", 2, "-o", "out" + name, name).stdout
            self.assertIn(f"texts in {name} (stop words removed, words counted by stem)", out)


class SeveralLanguages(TextsTest):
    """Three files of support tickets in English and German."""
    ENGLISH = {"print": "printer paper toner tray", "login": "password account user login"}
    GERMAN = {"print": "Drucker Papier Tinte Fächer", "login": "Passwort Konten Benutzer Anmeldung"}

    def tickets(self):
        self.needs_stemmer()
        for n, name in enumerate("abc"):
            rows = ["text,kind"]
            for i in range(40):
                kind = "print" if i % 2 else "login"
                english, german = self.ENGLISH[kind].split(), self.GERMAN[kind].split()
                text = (f"the {english[i % 4]}s and the {english[(i // 4 + n) % 4]} do not work in my room" if i % 10 < 6 else
                        f"die {german[i % 4]} und das {german[(i // 4 + n) % 4]} gehen bei mir nicht")
                rows.append(f'"{text}",{kind}')
            rows.append("Passwörter,login")
            self.write(name + ".csv", "\n".join(rows) + "\n")
        return "a.csv", "b.csv", "c.csv"

    def test_each_text_has_its_own_language(self):
        files = self.tickets()
        common = ("--text-column", "text", "--label-column", "kind")
        out = self.run_kindred("cluster", "-v", "-k", 2, "-o", "out", "--save-model", "m.h5", *common, *files).stdout
        self.assertIn("texts: 75 English, 48 German (stop words removed, words counted by stem)", out)
        features = set(self.read("out/features.csv").split(","))
        self.assertFalse(features & {"the", "and", "do", "not", "die", "und", "das", "bei", "mir", "nicht"})
        for name in files:
            labels = self.run_kindred("predict", "--model", "m.h5", "--task", name[0], "-q", "--text-column", "text", name).stdout.split()
            self.assertEqual(labels, self.read("out/" + name.replace("csv", "labels")).split())

    def test_vectorize_reports_languages_and_takes_lists(self):
        files = self.tickets()
        out = self.run_kindred("vectorize", "--detect", "-o", "found", *files).stdout
        self.assertIn("texts: 75 English, 48 German (stop words removed, words counted by stem)", out)
        out = self.run_kindred("vectorize", "--stop-words", "english,german", "--stemmer", "german,english", "-o", "given", *files).stdout
        self.assertIn("texts: 48 German, 75 English", out)
        words = self.read("given/features.txt").split()
        self.assertTrue({"printer", "druck", "papi"} <= set(words))
        self.assertFalse({"the", "und"} & set(words))
        self.write("own.txt", "printer\n")
        self.run_kindred("vectorize", "-q", "--stop-words", "english,own.txt", "-o", "mixed", *files)
        words = self.read("mixed/features.txt").split()
        self.assertIn("und", words)
        self.assertFalse({"the", "printer"} & set(words))
        for value in ("klingon", "english,klingon"):
            self.fails("vectorize", "--stop-words", value, "-o", "no", *files, code=2, says=["--stop-words", "'klingon'", "danish, dutch, english"])
        self.fails("vectorize", "--stop-words", "english,no.txt", "-o", "no", *files, code=3, says="no.txt")
        self.fails("vectorize", "--stemmer", "english,klingon", "-o", "no", *files, code=2, says=["--stemmer", "danish, dutch, english"])

    def test_a_few_foreign_texts_do_not_matter(self):
        self.write("one.txt", "the printers do not work in my room\n" * 80 + "die Drucker gehen bei mir nicht mehr\n" * 4)
        out = self.run_kindred("vectorize", "--detect", "-o", "out", "one.txt").stdout
        self.assertIn("texts in English (stop words removed", out)


class CharacterSets(CliTest):
    def lines(self, name, texts, encoding):
        """A file with a document in each line: the texts, and parts of them."""
        parts = texts + [t[i:i + 6] for t in texts for i in range(0, len(t) - 6, 6)]
        with open(self.path(name), "wb") as f:
            f.write(b"".join(t.encode(encoding) + b"\n" for t in parts))

    def test_east_asian_sets_are_detected_and_converted(self):
        shown = {"gb18030": "GB18030", "big5": "Big5", "shift_jis": "Shift-JIS", "euc_kr": "EUC-KR", "euc_jp": "EUC-JP"}
        for encoding, texts in ASIAN.items():
            self.lines("utf8.txt", texts, "utf-8")
            self.lines("other.txt", texts, encoding)
            self.run_kindred("vectorize", "-q", "--force", "-o", "a", "utf8.txt")
            done = self.run_kindred("vectorize", "--force", "-o", "b", "other.txt")
            self.assertIn("read as " + shown[encoding], done.stderr)
            self.assertEqual(self.read("a/features.txt"), self.read("b/features.txt"), encoding)
            self.assertEqual(self.read("a/utf8.mtx").split("\n", 1)[1], self.read("b/other.mtx").split("\n", 1)[1], encoding)

    def test_other_sets_are_not(self):
        for encoding, text in WESTERN.items():
            self.lines("w.txt", [text], encoding)
            done = self.run_kindred("vectorize", "--force", "-o", "w", "w.txt")
            self.assertIn("not in UTF-8, read as Windows-1252", done.stdout, encoding)
            self.assertNotIn("read as", done.stderr, encoding)

    def test_folders_report_them_and_tables_refuse_them(self):
        for i in range(8):
            os.makedirs(self.path("zh"), exist_ok=True)
            with open(self.path(f"zh/{i}.txt"), "wb") as f:
                f.write((ASIAN["gb18030"][i % 2] * (i // 2 + 1)).encode("gb18030"))
        out = self.run_kindred("cluster", "-v", "-k", 2, "-o", "out", "zh").stdout
        self.assertIn("8 of 8 read as GB18030", out)
        self.assertEqual(len({tuple(self.read("out/zh.labels").split()[i::2]) for i in range(2)}), 2)
        for encoding in ASIAN:
            rows = "".join(f"{i},{t[:12]}\n" for i, t in enumerate(ASIAN[encoding] * 5))
            with open(self.path("t.csv"), "wb") as f:
                f.write(("x,name\n" + rows).encode(encoding))
            self.fails("cluster", "-v", "-m", "kmeans", "-k", 2, "t.csv", code=3, says=["t.csv", "convert it to UTF-8"])

    def test_a_model_of_texts_asks_for_their_column(self):
        self.write("t.csv", "text,n\n" + "".join(f"{('red apple pie', 'fast blue car')[i % 2]} {i % 7},{i}\n" for i in range(30)))
        self.run_kindred("cluster", "-k", 2, "--text-column", "text", "--save-model", "m.h5", "-q", "-o", "out", "t.csv")
        self.fails("predict", "--model", "m.h5", "t.csv", code=3, says=["t.csv is a table", "fitted on texts", "--text-column"])

    def prose(self, name, header, row):
        words = {0: "ball goal team match player win league coach season kick", 1: "bread soup oven taste butter cheese pan salt sugar cook"}
        draw = random.Random(5)
        self.write(name, header + "\n" + "".join(
            row(i, " ".join(draw.choice(words[i % 2].split()) for _ in range(12)), draw) + "\n" for i in range(60)))

    def test_a_forgotten_text_column_is_an_error(self):
        self.prose("t.csv", "n,text,lang", lambda i, text, draw: f"{i % 7},{text},{draw.choice(['de', 'en'])}")
        self.prose("first.csv", "text,n", lambda i, text, draw: f"{text},{i % 7}")  # it would be taken as row names
        for name in ("t.csv", "first.csv"):
            self.fails("cluster", "-k", 2, name, code=3, says=["text", "long texts", "'n'", "--text-column 'text'", "--columns 'text:text'"])
            self.assertIn("long texts", self.run_kindred("inspect", name, code=None).stdout)
            self.run_kindred("cluster", "-k", 2, "-q", "-o", "out", "--force", "--text-column", "text", name)
            self.run_kindred("cluster", "-k", 2, "-q", "-o", "out", "--force", "--columns", "text:text", name)
            self.run_kindred("cluster", "-k", 2, "-q", "-o", "out", "--force", "--columns", "n", name)

    def test_texts_beside_many_columns_are_skipped_and_listed(self):
        self.prose("t.csv", "a,b,c,d,runtime,remark", lambda i, text, draw: ",".join(f"{draw.gauss(i % 2 * 4, 1):.2f}" for _ in "abcd") + f",{60 + i} min,{text}")
        line, = [x for x in self.run_kindred("cluster", "-k", 2, "-o", "out", "t.csv").stdout.splitlines() if x.startswith("skipped: ")]
        self.assertIn("runtime (numbers with a unit, such as 60 min)", line)
        self.run_kindred("cluster", "-k", 2, "-o", "out", "--force", "--columns", "-remark,-runtime", "t.csv")
        self.assertNotIn("skipped: ", self.run_kindred("cluster", "-k", 2, "-o", "out", "--force", "--columns", "-remark,-runtime", "t.csv").stdout)

if __name__ == "__main__":
    unittest.main()
