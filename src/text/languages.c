/* Stop words of the languages that have a stemmer. SPDX-License-Identifier: BSD-3-Clause
 *
 * The lists are this project's own: the function words of each language (articles, pronouns, auxiliaries, conjunctions,
 * prepositions, determiners, common adverbs), and the pieces that the tokeniser leaves of contractions ("don't": don, t).
 * Words are compared as tokens are spelt: case folded and composed, before stemming. */
#include "text/text.h"

static const struct {
	const char *name, *words;
} languages[] = {
	{ "danish",
	  "ad af aldrig alle alt altid anden andet andre at begge bl bla blev blevet blive bliver både da de dem den "
	  "denne der deres derfor det dette dig din dine disse dit dog du efter eftersom ej eller ellers en end endnu er "
	  "et fik flere fleste for foran fordi fra få får før først gennem gik gjorde går gør gøre ham han hans har havde "
	  "have hej hele hen hende hendes her hinanden hos hun hvad hvem hver hverken hvilke hvilken hvilket hvis hvor "
	  "hvordan hvorfor hvornår i igen ikke imellem imod ind inden ingen intet jeg jer jeres jo kan kom komme kommer "
	  "kun kunne lidt man mange med meget mellem men mens mere mig min mindre mine mit mod må måske ned nej netop "
	  "nogen noget nogle nok nu når og også om op os over overfor på samme selv selvom siden sig sin sine sit skal "
	  "skulle som stadig så sådan tage tager til ud uden under var ved vi via vil ville vor vores være været" },
	{ "dutch",
	  "aan achter af al alle alleen alles als altijd ander andere anders ben bent beter bij bijna binnen boven daar "
	  "daarom dan dat de der deze die dit doch doe doen door dus echter een eens elk elke en er erg ervan even gaan "
	  "gaat geen geweest geworden had hadden hare heb hebben hebt heeft heel hem hen het hetzelfde hier hij hoe "
	  "hoewel hun ieder iedere iemand iets ik in is ja je jij jou jouw jullie kan kon konden kun kunnen kunt maar mag "
	  "me meer meest men met mij mijn moest moet moeten na naar naast nadat net niet niets nog nooit nu of om omdat "
	  "onder ons onze ook op over overal pas per reeds rond samen sinds slechts soms steeds te tegen terwijl tijdens "
	  "toch toen tot totdat tussen u uit uw vaak van vanaf vanuit veel via volgens voor vooral waar waarom wanneer "
	  "want waren was wat we weer wel welke werd werden wie wij wil willen word worden wordt zal ze zeer zelf zelfs "
	  "zich zichzelf zij zijn zo zoals zonder zou zouden zowel zulke" },
	{ "english",
	  "a about above across after again against ago ahead ain all almost along alongside already also although "
	  "altogether always am amid among amongst an and another any anybody anyhow anyone anything anyway anywhere "
	  "apart are aren arent around as aside at away back be became because become becomes becoming been before behind "
	  "being below beneath beside besides between beyond both but by call called can cannot cant come concerning "
	  "could couldn couldnt d despite did didn didnt do does doesn doesnt doing don done dont down during each eg "
	  "eight either eleven else elsewhere enough etc even ever every everybody everyone everything everywhere except "
	  "far few fewer fifteen fifty find first five for former formerly forth forty found four from further "
	  "furthermore get gets getting give given go goes going gone got gotten had hadn has hasn have haven having he "
	  "hence her here hereby herein hers herself hes him himself his how however hundred i id ie if im in indeed "
	  "inside instead into is isn isnt it its itself ive just keep last later latter latterly least less lest let "
	  "lets like ll m made make many may maybe me meanwhile merely might mightn mine more moreover most mostly much "
	  "must mustn my myself namely near needn neither never nevertheless next nine no nobody none nonetheless noone "
	  "nor not nothing now nowhere of off often oh ok okay on once one ones oneself only onto or other others "
	  "otherwise ought our ours ourselves out outside over own past per perhaps please put quite rather re really "
	  "regarding round s said same say says see seem seemed seeming seems seen seldom seven several shall shan she "
	  "shes should shouldn show since six sixty so some somebody somehow someone something sometime sometimes "
	  "somewhere soon still such t take ten than that thats the their theirs them themselves then thence there "
	  "thereafter thereby therefore therein thereupon these they theyre thirty this those though three through "
	  "throughout thus till to together too toward towards twelve twenty twice two under underneath unless unlike "
	  "until up upon us ve very via vs was wasn wasnt we well went were weren werent what whatever when whence "
	  "whenever where whereafter whereas whereby wherein whereupon wherever whether which whichever while who whoever "
	  "whom whomever whose why will with within without won wont would wouldn yes yet you your youre yours yourself "
	  "yourselves" },
	{ "finnish",
	  "aina ainoastaan alla asti edes ehkä ei eikä eivät eli ellei emme en enemmän ennen ensin entä ettei ettette "
	  "että haluaa he heidän heille heillä heistä heitä hyvin hän hänelle hänellä häneltä hänen hänessä hänestä hänet "
	  "häntä ihan ilman itse ja jo joiden joihin joilla joille joissa joista joita joka jokainen joko jolla jolle "
	  "jolloin jonka jopa jos joskus jossa josta jota jotka jotta jälkeen kaikki kaikkia kaikkien kanssa kautta "
	  "keiden ken kenen kerran keskellä ketkä ketä kuin kuinka kuitenkin kun kuten kyllä käsin lisäksi luona läpi "
	  "mahdollisesti me meidän meille meillä meitä melko mihin miksi mikä millainen milloin minkä minua minulla "
	  "minulle minun minä missä mistä mitkä mitä mitään monet moni mukaan mutta muu muun muut muuta myös ne niiden "
	  "niihin niille niillä niin niissä niistä niitä no noin nuo nyt näiden näin näissä näitä nämä ole olemme olen "
	  "olet olette oli olimme olin olisi olisivat olit olivat olla olleet ollut on ovat paitsi pitkin pitää poikki "
	  "puolesta saa saada sama samoin se sekä sen siellä siihen siinä siis siitä siksi silloin sillä sinua sinulla "
	  "sinulle sinun sinä sitten sitä suhteen taas tai te teidän teille teitä tuo tuon tuota tällä tämä tämän tänä "
	  "tässä tästä täten tätä vaan vai vaikka vain varten vasta vastaan vielä voi voidaan voivat yhä yksi yli ympäri" },
	{ "french",
	  "afin ai aie ainsi ait alors après au aucun aucune aujourd auquel aura aurait aussi autant autre autres aux "
	  "avaient avais avait avant avec avez avoir avons ayant beaucoup bien car ce ceci cela celle celles celui "
	  "cependant certain certaine certaines certains ces cet cette ceux chaque chez ci comme comment contre dans de "
	  "dehors depuis dernier des deux devant devrait doit doivent donc dont du durant dès elle elles en encore enfin "
	  "entre envers es est et eu eux faire fait faut fois font furent fut hors hui ici il ils jamais je jusqu jusque "
	  "la laquelle le lequel les lesquelles lesquels leur leurs lors lorsqu lorsque lui là ma mais malgré me mes mien "
	  "moi moins mon même mêmes ne ni non nos notre nous on ont ou oui où par parce parfois parmi pas pendant peu "
	  "peut peuvent plus plusieurs plutôt pour pourquoi pourtant pouvait près puis puisque qu quand quant que quel "
	  "quelle quelles quelqu quelque quelques quels qui quoi quoique sa sans se selon sera serait seront ses "
	  "seulement si sien sinon soi soit sommes son sont sous souvent suis sur ta tandis tant te tel telle telles tels "
	  "tes toi ton toujours tous tout toute toutefois toutes trop très tu un une vers voici voilà vos votre vous vu "
	  "étaient étais était étant été être" },
	{ "german",
	  "ab aber alle allem allen aller allerdings alles als also am an andere anderem anderen anderer anderes auch auf "
	  "aus außer außerdem bei beide beiden beim bereits bevor bin bis bist da dabei dadurch dafür dagegen daher damit "
	  "danach dann daran darauf daraus darf darin darum darunter darüber das dass davon davor dazu daß dein deine "
	  "deinem deinen deiner dem den denen denn dennoch der deren des deshalb dessen dich die dies diese diesem diesen "
	  "dieser dieses dir doch dort du durch dürfen ebenfalls ebenso ehe eigentlich ein eine einem einen einer eines "
	  "einige einigen einiger einiges einmal er erst es etwa etwas euch euer eure eurem euren eurer falls fast für "
	  "gab ganz gar gegen gemacht genau gewesen gibt gleich hab habe haben hast hat hatte hatten hier hin hinter "
	  "hätte hätten ich ihm ihn ihnen ihr ihre ihrem ihren ihrer ihres im immer in indem ins irgend ist ja je jede "
	  "jedem jeden jeder jedes jedoch jemand jene jenem jenen jener jenes jetzt kam kann kannst kaum kein keine "
	  "keinem keinen keiner können könnte könnten lassen lässt läßt machen macht mal man manche manchen mancher mehr "
	  "mein meine meinem meinen meiner meines meist mich mir mit muss musste muß möchte möglich müssen nach nachdem "
	  "neben nein nicht nichts nie noch nun nur ob obwohl oder oft ohne paar schon sehr sei seid sein seine seinem "
	  "seinen seiner seines seit sich sie sind so sogar solch solche solchem solchen solcher soll sollen sollte "
	  "sollten somit sondern sonst soweit sowie statt tun um und uns unser unsere unserem unseren unserer unter viel "
	  "viele vielen vielleicht vom von vor wann war waren warum was weder wegen weil weiter weitere weiteren welche "
	  "welchem welchen welcher welches wenig weniger wenn wer werde werden werdet weshalb wie wieder will wir wird "
	  "wirst wo wobei wollen wollte womit worden wurde wurden während wäre wären würde würden zu zudem zum zumal zur "
	  "zwar zwischen über" },
	{ "hungarian",
	  "abba abban ad addig ahhoz ahogy ahol aki akik akkor akár alatt amely amelyben amelyek amelyet amelynek ami "
	  "amikor amilyen amit amiért amíg annak arra arról az azok azokat azon azonban azt aztán azután azzal azért be "
	  "belül benne bár de e ebben eddig egy egyes egyik egymás egyre egyéb egész el elég először előtt ennek errol "
	  "ezek ezen ezt ezzel ezért fel felé ha hanem hiszen hogy hogyan honnan hova igen ill illetve ilyen inkább is "
	  "ismét itt jól kell kellett keresztül ki kinek kit kívül köszönhetően között közül le legalább legyen lehet "
	  "lehetett lenne lenni lesz lett ma maga magát majd meg mellett mely melyek mert mi miatt mikor milyen mind "
	  "mindegyik minden mindenki mindig mint mintha mit mivel most már más másik még nagyon ne nekem neki nekik nem "
	  "nincs néha néhány nélkül olyan onnan ott pedig persze rá s saját sem semmi sok sokat során szemben szerint "
	  "szinte számára sőt talán te tehát ti tovább továbbá több túl ugyanaz ugyanis után utána vagy vagyis vagyok "
	  "valaki valami való van vannak vele velük vissza viszont volna volt voltak által általában ám én és így ön önök "
	  "össze úgy új ő ők" },
	{ "italian",
	  "abbiamo ad agli ai al alcun alcuna alcune alcuni all alla alle allo allora altra altre altri altro anche "
	  "ancora appena avere aveva avevano avuto ben che chi ci ciascuno cioè ciò coi col come con contro cosa così cui "
	  "da dagli dai dal dall dalla dalle dallo degli dei del dell della delle dello dentro di dietro dopo dove "
	  "dovrebbe due dunque durante ebbe ecco ed egli ella entrambi era erano essa esse essendo esser essere essi fa "
	  "fanno fare fatto fino fra fu furono già gli grazie ha hai hanno ho il in infatti inoltre intorno invece io la "
	  "le lei li lo loro lui lungo ma mai me meno mentre mi mia mie miei mio molta molte molti molto ne negli nei nel "
	  "nell nella nelle nello nessun nessuna nessuno niente noi non nostra nostre nostri nostro nulla o od ogni "
	  "ognuno oltre oppure ora per perché perciò però più po poco poi poiché potrebbe presso prima proprio può qua "
	  "qual qualche qualcosa qualcuno quale quali quando quanto quasi quella quelle quelli quello quest questa queste "
	  "questi questo qui quindi sarebbe sarà se sebbene secondo sei sembra sempre senza sia siamo siano siete sino "
	  "sono sopra sotto sta stanno stata state stati stato stessa stesso su sua subito sue sugli sui sul sull sulla "
	  "sulle sullo suo suoi tale tali talvolta tanto te ti tra tranne tu tua tue tuo tuoi tutta tuttavia tutte tutti "
	  "tutto un una uno va verso vi via voi volta vostra vostro vuole" },
	{ "norwegian",
	  "alle alltid alt altså andre annen annet at av bare begge ble blei bli blir blitt bort bra bruke både da de deg "
	  "deim deira deires dem den denne der dere deres derfor det dette di din disse ditt du dykk då eg ei ein eit "
	  "eller ellers en enda enn ennå er et ett etter etterpå fikk flere for foran fordi fra fram få får før først "
	  "gikk gjennom gjorde gjør gjøre god gå går ha hadde han hans har hele hennar henne hennes her hjå ho hos hun "
	  "hva hvem hver hverandre hvilke hvilken hvis hvor hvordan hvorfor i igjen ikke ikkje imellom ingen ingenting "
	  "inn inne innen inntil ja jeg kan kom komme kommer kun kunne kva kvar kven kvifor lenger lik like litt man "
	  "mange med meg meget mellom men mens mer mest mi min mindre mine mitt mot mye mykje må måtte na nede nei no noe "
	  "noen nok noko nokon nå når og også om opp oss over på same samme seg selv selvom si siden sin sine sitt skal "
	  "skulle slik snart som stadig større så sånn tar til tilbake um under ut ute uten ved vel vere verken vi via "
	  "vil ville visst vore vår våre være vært" },
	{ "portuguese",
	  "acerca agora ai ainda algo algum alguma algumas alguns alguém ali além ante antes ao aos apenas após aquela "
	  "aquelas aquele aqueles aqui aquilo as assim através até cada com como contra contudo cuja cujas cujo cujos da "
	  "daquela daquele dar das de dela delas dele deles dentro depois desde dessa dessas desse desses desta deste "
	  "deve devem do dos duas durante ela elas ele eles em embora enquanto entre então era eram essa essas esse esses "
	  "esta estamos estar estas estava estavam este estes esteve estou está estão eu faz fazer foi for fora foram "
	  "fosse fossem haver havia houve há isso isto já lhe lhes logo longe mais mas me mediante menos mesma mesmas "
	  "mesmo mesmos meu meus minha minhas muita muitas muito muitos na nada nas nela nele nem nenhum nenhuma nessa "
	  "nesse nesta neste ninguém no nos nossa nossas nosso nossos num numa nunca não nós onde os ou outra outras "
	  "outro outros para parte pela pelas pelo pelos perante perto pode podem poder pois por porque porquê portanto "
	  "porém posso pouca pouco poucos própria próprio quais qual qualquer quando quanta quanto quase que quem se seja "
	  "sejam sem sempre sendo senão ser seria será serão seu seus sido sob sobre somos sou sua suas são tal também "
	  "tampouco tanta tanto te tem temos tendo tenha tenho ter terá teu teus teve tinha tinham toda todas todavia "
	  "todo todos tu tua tuas tudo têm um uma umas uns vai vem vez você vocês vos vários vós último" },
	{ "romanian",
	  "abia acea aceasta această aceea aceeași acei aceia acel acela acelasi același acele acelea acest acesta aceste "
	  "acestea acestei acestia acestor acestui acum adică ai aia aici al ale alt alta altceva alte altfel altul altă "
	  "alți am apoi ar are asa asemenea asta astfel astăzi asupra atunci atât au avea aveam aveau avem avut aș așa ba "
	  "bine ca care ce cea ceea cei cel cele celor ceva chiar ci cine cineva cu cum cumva când cât câte câți că cărei "
	  "căreia căror cărui către da dacă dar dat de deasupra deci decât deja deoarece departe despre deși din dintr "
	  "dintre doar după e ea ei el ele era erau este eu face fapt față fi fie fiecare fiind foarte fost fără iar ii "
	  "la le li lor lui mai mare mea mei mele mereu meu mi mie mine mult multe multă mulți ne nici nicio niciodată "
	  "niciun nimeni nimic niște noastre noastră noi nostru noștri nu numai o or ori orice oricine pe pentru peste "
	  "poate pot prea prin printr până pînă sa sale sau se sub sunt sus sînt să săi său ta tale te ti toate toată tot "
	  "totuși toți tu tău un una unde undeva unei unele uneori unii unor unora unu unui unul va vai vei voastră voi "
	  "vom vor vostru voștri vreo vreun vă îi îl îmi în înainte înaintea încât încă înspre într între îți și ție" },
	{ "russian",
	  "а без более больше бы был была были было быть в вам вами вас весь во вот все всегда всего всей всем всеми всех "
	  "всю вся всё вы где да даже два для до другая другие другого другой его ее ей ему если есть еще ещё её же за "
	  "зачем здесь и из или им ими иногда их к каждый как какая какие какой когда конечно которая которого которое "
	  "которой котором которому которую которые который которым которых кроме кто куда ли лишь лучше между меня мне "
	  "много мной мог могут может можно мой моя моё мы на над надо наконец нам нами нас наш наша наше наши не него "
	  "нее ней некоторые нельзя нет неё ни нибудь никогда ним ними них ничего но ну о об один одна однако одной он "
	  "она они оно опять от очень перед по под пока после потом потому почему почти при про раз разве с сам сама сами "
	  "само самый свое своего своей своем свои своих свой свою себе себя сейчас со совсем так такая также такие "
	  "такого такой там твой те тебе тебя тем теперь тех то тогда того тоже той только том тот три ту тут ты у уж уже "
	  "хоть хотя чего чей чем через что чтоб чтобы чуть эта эти этих это этого этой этом этому этот эту я является" },
	{ "spanish",
	  "acuerdo además ahora al algo alguien alguna algunas alguno algunos algún allá allí ambos ante antes apenas "
	  "aquel aquella aquellas aquello aquellos aquí así aun aunque aún bajo bastante bien cada casi cerca como con "
	  "contra cosa cosas cual cuales cualquier cuando cuanto cuya cuyas cuyo cuyos cuál cuándo cuánto cómo da dar de "
	  "debe deben debido decir del demás dentro desde después detrás dice dicho donde dos durante dónde el ella ellas "
	  "ello ellos embargo en encima entonces entre era eran eres es esa esas ese eso esos esta estaba estaban estado "
	  "estar estas este esto estos estoy estuvo está están fin fue fuera fueron ha haber había habían hace hacen "
	  "hacer hacia han hasta hay haya he hemos hoy hubo incluso ir jamás junto la las le lejos les lo los luego mal "
	  "mas mayor me mediante mejor menos mi mientras mis misma mismas mismo mismos mucha muchas mucho muchos muy más "
	  "mí mía mío nada nadie ni ninguna ninguno ningún no nos nosotros nuestra nuestras nuestro nuestros nunca o os "
	  "otra otras otro otros para parte pero poca pocas poco pocos poder podrá podría por porque primero propia "
	  "propio pudo pueda puede pueden pues que quien quienes quiere quién qué sea sean según ser será serán sería si "
	  "sido siempre siendo sin sino sobre solamente solo somos son soy su sus suya suyo sí sólo tal también tampoco "
	  "tan tanto te tener tengo tenía ti tiene tienen toda todas todavía todo todos tras tu tus tuvo tú un una unas "
	  "uno unos usted ustedes va vamos van varias varios veces ver vez vosotros vuestra vuestro y ya yo él última "
	  "último" },
	{ "swedish",
	  "all alla allt alltid allting alltså andra annan annars annat att av bakom bara bland blev bli blir blivit bort "
	  "bättre båda både dag de dem den denna deras dess dessa dessutom det detta dig din dina dit ditt du där därför "
	  "då efter eftersom ej eller emot en enda endast enligt er era ert ett exempelvis fanns fast fick finns fler "
	  "flera flesta fram framför från få får för före först genast genom gick gjorde gjort gå går gått gör göra ha "
	  "hade haft han hans har hela heller hellre henne hennes hit hon honom hur här i ibland icke igen igenom ihop in "
	  "inga ingen ingenting inget innan inne inom inte inuti ja jag ju kan kanske knappast kom komma kommer kommit "
	  "kunde kunna kunnat lika länge man med medan mellan men mer mera mest mig min mina mindre minst mitt mot mycket "
	  "många måste nej ner nere ni nog nu när nästan någon någonting något några nån och också olika om omkring oss "
	  "på redan runt samma samt sedan sen senare sig sin sina sitt själv själva ska skall skulle som stor sätt så "
	  "sådan sådana sådant tack tar till tills trots under upp uppe ur ut utan utanför utom vad var vara varandra "
	  "varför varit varje varken vars vart vem vems verkligen vi via vid vidare vilka vilken vilket vill ville väl "
	  "vår våra vårt än ännu är även åt över" },
	{ "turkish",
	  "acaba ama ancak artık aslında az bana bazen bazı başka belki ben bende benden beni benim beri bile bin bir "
	  "biraz biri birkaç birlikte birçok birşey biz bize bizi bizim bu buna bunda bundan bunlar bunları bunların bunu "
	  "bunun burada böyle bütün da daha dahi de demek değil değildir diye diğer dolayı dolayısıyla edecek eden ederek "
	  "edilen ediyor en etmek etti ettiği eğer fakat falan filan gene gereken gibi göre hala halen hangi hatta hem "
	  "henüz hep hepsi her herhangi herkes hiç hiçbir ile ilgili ise itibaren için içinde işte kadar karşın kendi "
	  "kendine kendini kez ki kim kimi kimse madem mi mu mü mı nasıl ne neden nedenle nerede nereye niye niçin o olan "
	  "olarak oldu olduklarını olduğu olduğunu olmak olması olmayan olsa olsun olup olur on ona ondan onlar onlara "
	  "onlardan onları onların onu onun oysa pek rağmen sadece sana sanki sen senden seni senin siz size sizi sizin "
	  "sonra sonunda tarafından tüm tümü var vardı ve veya ya yani yapan yapmak yaptı yapılan yerine yine yok yoksa "
	  "yüzden zaten zira çok çoğu çünkü öbür önce ötürü öyle üzere üzerine şey şeyi şimdi şu şuna şunları şunu şöyle" },
};

_Static_assert(sizeof languages / sizeof languages[0] == KDRI_LANGUAGES, "one list per language");

const char *kdri_language_name(int language)
{
	return language >= 0 && language < KDRI_LANGUAGES ? languages[language].name : NULL;
}

int kdri_language_number(const char *name, size_t length)
{
	for (int l = 0; l < KDRI_LANGUAGES; l++)
		if (strlen(languages[l].name) == length && memcmp(languages[l].name, name, length) == 0)
			return l;
	return -1;
}

kdr_status kdri_language_words(kdr_context *ctx, int language, kdri_terms *to)
{
	const char *p = languages[language].words;
	char word[256];
	while (*p) {
		int32_t id;
		const size_t length = strcspn(p, " "),
		             n = kdri_fold_word(true, p, length, word, sizeof word); /* such as ß to ss */
		KDRI_DO(kdri_terms_add(ctx, to, word, n, kdri_term_hash(word, n), &id));
		to->terms[id].df |= (int64_t)1 << language;
		p += length + strspn(p + length, " ");
	}
	return KDR_OK;
}
