"""Words that are names of people, and words with a capital that are none. General vocabulary, in any order of fame.

The first names and the names of places and products of ``look_alikes.kinds`` belong to them too.
"""

from __future__ import annotations

from provenloop.domain.look_alikes.dates import CALENDAR
from provenloop.domain.look_alikes.kinds import KINDS
from provenloop.domain.look_alikes.units import UNITS
from provenloop.domain.tokens_frequent import FREQUENT

_GIVEN = """
abdul abdullah abel abena adaeze adam adebayo adele adriana adwoa agnes agnieszka ahmad ahmed ahmet aiko aileen aino
aisling ajay akira alain alba albert alberto alejandra aleksandr aleksandra aleksei alessandro alessia alexei alexey
alfonso alfred ali alina alisha allison alma alvaro amara amelia amina amir amit amrita anastasia anaís anaïs anders
andreas andrei andrzej andrés aneta angelica angelo anil anita anja anjali anke ankit annika antoine anton antonia
aoife april arash archana ariana arjun arne arthur arturo arun asha ashok astrid asuka aurelie ayesha ayse aziz babak
balazs bart bartosz bashir beata beatrice beatriz belen bengt bernard bernd bertrand bhavna bianca birgit bjoern bjorn
björn bogdan boguslaw branko brenda brigitte bruno burak camila camille carlo carolina cecilia cedric celia chandra
chanel chantal chidi chika chinedu chioma chloé christophe ciara cindy clement colin conor cornelia cristian cristina
cyril dagmar daisuke damian damien danielle danilo daria dario darren davide deepa deepak denise derek dhruv didier
dieter dimitri dmitri dmitry dolores dominik dominique dorota douglas duncan dylan ebony edgar edith eduardo edwin
eileen eirik ekaterina elaine elias elif elisa eliza elke eloise elsa emeka emil emilia emiliano emilie emine enrico
enrique ernesto esperanza esra esteban esther eszter etienne eugene ewa fabian fabio faisal farah farid fatima fatma
federico felipe ferdinand fernanda florence florian francisco franck franco francois franz françois frederic frederik
frida fumiko gabriela gaurav geoffrey georg georgia georgios gerald gerard gerhard gertrude giacomo gianni gilbert
giorgio giovanna giovanni girish giulia giuseppe gonzalo goran graham grzegorz guido guillaume guillermo gunnar
gunther gustav gustavo günther habib haji hakan hamid hamza hanna hanne harald hari harish harold harriet haruka
haruki haruto hasan hassan hassana hector heidi heinrich heinz hendrik henri henrietta henrik hilda hiroko hisham hong
howard hussein hyun ibrahim ifeoma ignacio igor ikram ilaria ilse ilya imani imran inga inge ingo inés irina iris
isaac ismail istvan ivana ivo iván jaakko jacek jacqueline jacques jakob jakub jamal jamie jana janez janina janusz
javier jeanne jelena jens jeroen jerome jiri joachim joana joanna joao joaquin jocelyn joel joelle johan johann
johannes jolanta jonas joost josef josefina josh josé jozef juana juanita judith juergen juma jurgen justine justyna
jörg jürgen kaito kamal kamil kaori karim karin karina karl-heinz kasia katarina katarzyna katharina kathy katja
katrin kavita kazuki kazuo keiko keisha kenji kerstin khadija khalid kiran kirsten kjell klara klaus kofi kojo konrad
krishna kristen kristin kristina krzysztof kumar kwabena kwame laila lakshmi lars lasse laszlo latisha laurence
laurent layla lech leena leif leila lena leonard leonardo leonie leticia lieselotte lili lillian lina linnea lorena
lorenzo lorraine louisa luca luciana luciano lucía ludmila ludwig luigi luisa lukas lydia léa maciej madeleine magda
magdalena mahesh mahmoud maja malcolm malik manfred manish manoj manuela marc marcel marcela marcelo marcin marek
margot margrit mariam mariana marianne marina marion marisol marjorie marta martina martín marwan maryam maría masako
mathias mathieu matilda mats matthias maureen maurice mauricio mauro maxim maxime maximilian mehdi mehmet mehmood
melanie mercedes meredith meryem michal michele mieke mikael mikhail milan milena miloslav mina minh miriam mirjam
mirko mohamad mohammad moira monika monique morten moses muhammad murat mustafa müller nadine nadja naoko nasser
natasha nathalie neeraj neha nelson ngozi nia nicola nicolas nicolo nigel nikhil niklas nikolai nikolaus nils nina
nisha nnamdi noel noemi norbert norma noémie obinna odile ola olaf ole oleg olena olga olivier olufemi oluwaseun omer
orhan oskar osman otto pablo palesa pamela paola paolo parvati pascal patricio patrik patrizia pauline pavel pawel
pedro perrine petra petros phoebe pia pierre piotr pooja prakash pranav prasad pratik preeti rachid rafael rafal
raghav rahul raj rajesh rajiv rakesh ralf ram ramesh rami ramon raquel rashid raul ravi raúl regina reinhard rekha
renata renate rene rené ricardo riccardo richa rita ritu roberta rocio rodrigo rohan rohit roland romain roman
rosalind rosario roxana ruben rui rupert ruth sabine sabrina sachin sadia said sakura salma salvador salvatore samir
sanjay sanjeev santiago saskia satoshi sebastien sebastián selim selma serena sergei sergey shalini shankar shannon
sharon sheila shigeru shirley shreya sigrid silke silvia simone sinead siobhan slavko sofía sonia sonja soren
stanislav stanislaw stefania stefano steffen stella steven stuart sumit sunil sunita suresh susana susanne suzanne
sven svetlana swati sylvia sylvie søren tadeusz takashi takeshi tamara tanja tariq tarun tatiana tatjana tereza thabo
thandiwe theo theodora theodore theresia thierry thomasz thorsten tiago tilda timo tobias tomas tomasz tomoko tomás
torsten tove trevor tunde udo ulrich ulrike umar ursula usha ute uwe vaclav valentin valeria valerie vasily venkat
vera vicente vijay vikram viktor viktoria vinay vincenzo viola violeta virgil virginie vishal vivek vivian vlad
vladimir vladislav volker vusi waleed wanda wangari wanjiru waqas werner wilfried wilhelm winston wojciech wolfgang
xiaoming xiomara yan yann yara yasmin yasuko yevgeny ylva yolanda yoshiko yuri yusra yusuf yves yvette yvonne zainab
zara zbigniew zdenek zeynep zofia zoltan zoé zuzana álvaro ángel åsa élodie óscar
"""
#: First names that are words too: names only where more than the word speaks for it.
AMBIGUOUS = frozenset(
    "adele alan alba alex ali alma ana angel april argus art august autumn ben bill bob carol chase chip christian "
    "clay cliff colin cook daisy dale dawn dean dick don dot drew earl ella eva eve faith fern finn florence ford "
    "frank gale gene georgia ginger glen grace grant guy harry heather holly hope hunter iris ivana ivy jack jade jan "
    "jasmine jay jean jesse jet jimmy john josh joy june karl kate kelly ken kim kyle lance lane lee leo leon levi li "
    "lila lily lin linda lisa liu long luke ma mark mason max may maya melody mercy milan miles min mina mira mo nia "
    "nick nina noel nora norm nova ola ole olive oscar otto paige pan paris parker pat patience patty paul pearl peg "
    "penny peter phil phoenix pia pier pierce piper quinn raj ram ray reagan reed regina rene rich rita rob robin "
    "rocky rod rohan roland roman ron rose ruby rui rusty ruth sage said sal sam sandy sara scott sean sharon sherry "
    "simon skip sky sofia star stella stew storm sue summer tad ted terry tim tina tom tony val van vera victor "
    "victoria viola violet virginia wade walter wanda ward wendy will woody".split()
)
_SURNAMES = """
adeyemi ahmed akhtar almeida alvarez andersen anderson andersson arslan asante aydin bakker bauer becker begum bianchi
boateng bonnet bui campbell castillo celik chaudhry chen cho choi christensen clarke cohen colombo costa dang davies
de-vries demir diaz dlamini dogan dominguez dubois dupont edwards eriksson esposito evans eze farouk fedorov fernandez
ferrari ferreira fischer fontaine fournier friedman gao garcia girard goldberg gomez gonzalez greco guo gupta haddad
hansen harrison hassan hayashi hernandez hoang hoffmann horvath hossain huang hughes hussain ibrahim inoue islam
ivanov iyer jackson jang jansen janssens jensen jimenez johansen johansson johnson jones jung kamau kaminski kang
karlsson kato kaya kelly khan khoury kim kimura klein kobayashi koch korhonen kovacs kowalczyk kowalski kumar
kuznetsov lambert larsen larsson laurent lefebvre leroy levy lewandowski lewis liang lim liu lopez luo macdonald
makinen malik mansour marino martin martinez matsumoto mbeki mcdonald mehta mensah meyer mikhailov mizrahi moreau
moreno morris muller murphy mwangi nagy nair nakamura navarro ndlovu neumann nguyen nielsen nieminen nilsson njoroge
nkosi novak novikov novotny nowak o'brien obi obrien ochieng okafor okonkwo oliveira olsen olsson ortega otieno owusu
ozturk papadopoulos park patel pedersen peeters pereira perez petrov pham phan popov rahman ramirez ramos rao reddy
ricci richter roberts robinson rodriguez romano romero rosenberg rossi roux ruiz russo sahin sanchez santos sasaki
sato schafer schmidt schneider schroder schulz schwarz shah sharma sheikh shimizu sidorov silva singh smirnov smith
sokolov souza stewart sun suzuki svoboda szabo szymanski tanaka tang taylor thomas thompson torres toth tran vasiliev
vazquez verma virtanen visser volkov wagner walker wang watanabe weber williams wilson wisniewski wojcik wolf wright
xie yamada yamamoto yang yildiz yilmaz yoon yoshida zhang zhao zheng zhou zhu zielinski zimmermann zulu
"""
_NOT_NAMES = """
mr mrs ms miss mx dr prof professor doctor sir madam lady lord captain herr herrn frau monsieur madame señor señora dhr
above accept access accessibility accounting accounts accra acme action active activity actual ad add added additional
address aden admin administrator adobe adsense advanced advice africa african airbnb airflow airtable akamai albany
alberta alert alexa algolia alibaba aliexpress alipay all allow alpha alps also alternatively amendment america
american amex amman analysis analytics andes android angular ankara ansible anthropic antwerp apache apollo appium
apple application approval approve approved apps arabia arabic arch architecture archive argo arizona arkansas article
as asana asia asian ask asking assign assigned assistant athena atlanta atlantic atlas atlassian attempt attempts
attention auckland audio audit auditor aurora austin australian austrian auth auth0 authentication authorization auto
automatic automation avalara average avoid avro azure babel back backend backlog backup bad baghdad balance bali
balsamiq baltic bangalore bangladesh bank base basecamp based basel bash basic batch bavaria bay bazel bedrock beirut
belfast belgian belgrade bengaluru bern beta better bigtable bill billing binary bing birmingham bitcoin bitwarden
blender blob block blocked blog bluetooth board bogota bolivia bologna bonn book booking boot bootstrap bordeaux both
box bratislava brave brazilian bremen bridge bring brisbane bristol british broken browser bucharest buenos-aires bug
bugs bugzilla build builds bulgaria bulk bundle business button buy cache caddy calendar calgary california call
caller calls cambodia cambridge cameroon campaign can canada canadian cancel cancelled canva capacity caracas card
cardiff cards caribbean cart case cases cash cassandra catalog category cause celery center centos central certificate
chain change changed changes channel chapter chart chat chatgpt check checkout chef chinese christmas chromium
circleci claim claims class claude clean clear cli click clickhouse client clients clojure close closed cloud
cloudflare cloudformation cloudfront cloudwatch club cluster cobol cockroach code codebase coinbase colleague
colleagues collection cologne colorado column columns command comment comments commit committee common community
company compare complete completed compliance component compute concern condition confidential config configuration
configure confirm confirmed confluence confluent connect connected connecticut connection consider console consul
contact container content context contract control cookie copilot copy core cork corporate corporation cost couchbase
could council count country coupon course court crashlytics create created creating credit critical croatia cron css
cuba currency current custom customer customers cypress cyprus daily dakar dakota damascus dashboard data database
databricks datadog datasets date dates day days deadline dear debit debug decision decline declined default delaware
delay delete deleted deliver delivered delivery dell demo denied deno department deploy deployment deposit describe
description design desk desktop detail details detected detroit dev developer development device dhl digital direct
director directory disable disabled discord discount disk dispute dns docs document documentation documents docusign
domain done dortmund down download downstream draft dresden driver dropbox druid duckdb duplicate during dutch
dynamodb dynatrace each eastern ebay ec eclipse economy ecuador edge edinburgh edit editor edmonton either elastic
elasticache electron emacs email emails empty enable enabled encryption end endpoint engine engineer engineering
england english ensure enter enterprise entry environment envoy error errors escalate escalated eslint essen estimate
estonia etcd ethereum ethiopia etl europe european event eventbridge events everest every everybody everyone
everything evidence example excel except exception exchange executive exit expected expired explain export express
external extra facebook fail failed failure failures false faq fargate fast fastapi fastly fatal feature features
fedex fedora feedback fetch field figma file files filter final finally finance financial find firebase first fix
fixed flag flink florida flow flutter folder folks follow following food for forbidden force foreign form format
forward found foundation free freshdesk friday friends from front frontend full function functions fund gateway gdpr
gemini general geneva german gerrit get ghana gibraltar git gitlab give given glasgow glue gmail gnome go golang gold
good google got gothenburg government gradle grafana granada grant graph graphql greek green groovy group groups
guatemala guest guide guys gzip hadoop hague haiti hand handle hannover hanoi harbor hard hardware has hashicorp
havana have hawaii head header heading health healthcheck hello help her here heroku hey hi hibernate high his history
hive holland home honduras honeycomb hong host hotel hotfix hour house how however html huawei hubspot hugging-face
human hungary hyderabad ibm iceland icloud icon idaho idea if illinois illustrator image images impact import
important in inbox incident include included incoming incorrect indeed index indian indiana industry influx info
information infrastructure initial input insert inspect instagram install installation instance instead institute
insurance int intel intercom interface internal international internet invalid inventory invite invoice invoices iowa
ipad iphone iran iraq irish is issue issues istio italian item items its jabber jaeger jamaica japan japanese java
javascript jekyll jenkins jerusalem jest jet-brains jetbrains jira job jobs johannesburg join json jupyter just kafka
kansas karachi kazakhstan keep kentucky key keyboard keys kibana kiev kindle kinesis king kinshasa klarna kong kotlin
krakow kubernetes kuwait kyiv kyoto label labels lahore lake lambda landing language lanka laos laptop large last late
latency latest latin latvia launch launchdarkly law layer lead leader league learn leave lebanon leeds left legal
leipzig lenovo less let letter level library libya license liechtenstein lightroom like limit line link linkedin links
linux list lithuania live liverpool ljubljana llama load local locale location locked log log4j logging login logs
logstash loki london look looker los-angeles louisiana low luxembourg lyon mac macbook machine macos madam magento
mail mailchimp main maine maintenance make malaga malta manage management manager manchester manual many map mapbox
maps mariadb market marketing marseille maryland massachusetts master mastercard matching mattermost mauritius maven
max may maybe meanwhile mecca media mediterranean medium meet meeting member members memcached memory mention menu
merge message messages meta method metric metrics michigan microsoft migration million minimum minneapolis minnesota
minor mint minute miro missing mississippi missouri mistral mixpanel mlflow mobile mocha mode model modern module
monaco mondays money mongo mongodb mongolia monitor monitoring montana montenegro montevideo month monthly more most
mount move mozilla msk multiple munich must myanmar nagoya name names namibia naples national nats navigate nebraska
need neither neo nepal nest net netflix netlify netsuite network nevada never new newcastle newrelic news next next.js
nginx nicaragua nice night nile no nobody node nodes nokia none normal north northern note notes nothing notice
notification notified notify notion nova now npm number numpy nvidia oauth object office official offline often ohio
okay oklahoma okta old on once one onedrive online only ontario open openai opensearch openshift openvpn operation
operations operator option optional options or oracle order orders oregon organization original orlando other
otherwise ottawa our outage outlook output over overview owner ownership oxford pacific package packages page
pagerduty paid palermo palestine panama pandas panel paperless paraguay parameter parent part partner pass password
past patch path pause pay payload payment payments paypal payroll pending pennsylvania people per performance period
perl permission person personal perth phase philadelphia phoenix phone photoshop php pick pinecone ping pipeline
pittsburgh pixel place plaid plan plans platform play playwright please plugin plus podman policies policy pool popup
port portal portland porto portuguese position possible post postgres postgresql postman power powerpoint powershell
premium prepare present president press presto preview previous price pricing prime principle print prior priority
privacy private pro problem procedure process product production products profile program progress project projects
prometheus prompt proof property proposal protection protocol provide provider proxy public publish pull pulsar pulumi
puppet purchase purpose push put pypi pytest python pytorch qatar quality qualtrics quantity quarter quebec queensland
query question questions queue quick quickbooks quito quora quota rabbitmq rails raise rancher raspberry rate rather
raw react read reader ready real really reason reboot recent recently recommend recommendation record records recovery
red reddit redhat redis redshift reduce redux reference refresh refund refunds refused region register regular reject
rejected related release releases reload remember remind remote remove removed render renew renewal reopen replace
replica reply report reports repository request requested requests require required research reserve reset resolve
resolved resource resources response responses restart restore result results resume retail retry return returned
returns revenue review reviewer revolut reykjavik rhine riga right ringcentral rio riyadh roadmap roku role rollback
room root rotterdam round route router row rule rules run running runtime russian rust rwanda sacramento safari safe
safety sage sagemaker saigon salesforce salzburg sample samsung sandbox sap saudi save saved say scala scale scan
scandinavia schedule scheduled schema school science scikit scope score scotland screen script search second secret
secrets section secure security see segment select selenium self send sendgrid senegal senior sentry serbia server
servers service servicenow services session sessions set settings setup seville shadow share shared sharepoint
sheffield shenzhen ship shipment shipped shipping shop shopify short should show shut siberia sicily sign signal
signature silver simple since single sir siri site size skip skype slack sleep slovakia slovenia slow small smart sms
snowflake snyk so social society software solr solution solved somalia some someone something sometimes sonarqube sony
soon sorry source south southern space spanish spark spec special spinnaker splunk spotify spring sprint sql sqlite
square squarespace staff stage staging standard start started starting startup state statement states static station
status steam step steps still stop storage store stored story storybook strategy stream street string stripe structure
student studio stuttgart style subject submit subscription subversion success successful successfully such sudan suez
summary sunday supabase support supported suspended svelte sweden swedish swift swiss switch symfony sync syria system
systems tab table tableau tag tailwind take tallinn tampa tanzania task tasks tasmania tax team teamcity teams
technical technology tehran telegram tell template temporal tennessee tensorflow term terminal terms terraform tesla
test tests texas text than thank thanks that the their them theme then there therefore these they thing things third
this those though thread three threshold through thunderbird tibet ticket tickets tier tiktok time timeout timestamp
title to today together token tokens told too tool tools top topic total toyota trace track tracking trade traffic
train training transaction transfer translation travel trello trial trigger trino true trust try tunis tunisia turin
turkey turkish turn tuscany tutorial twilio twitter two type types typescript uber ubuntu uganda unable under union
unique unit united unity university unix unknown unless unlike unlock unsupported until up update updated updates
upgrade upload ups upstream url uruguay usage use used user username users using usually utah utrecht vagrant valid
validation value values vatican vault vendor venezuela venice venmo veracode verbose vercel verification verified
verify vermont version versions via vice video view vilnius vim virtual visa vision visit vite vmware voice void
volume vpn vscode vue wait waiting wales walmart want warehouse warn warning was washington watch water way we web
webhook weblogic webpack website wechat weebly week weekly welcome wellington were west western what whatsapp when
where whether which while white who whole whose why wifi wiki wikimedia wikipedia will window windows wire wireless
wisconsin with within without wix woocommerce wordpress work workday worker workflow working workspace world would
write wrong wyoming xamarin xbox xcode xero yahoo yaml yammer yangon yarn year yearly yellow yelp yemen yes yesterday
yet york yorkshire you your yours youtube zabbix zagreb zambia zapier zealand zendesk zero zigbee zimbabwe zip zone
zookeeper zoom zurich
"""
#: What stands between the parts of one name.
PARTICLES = frozenset("de la del der den van von zu zur da das do dos du di le el al bin ibn ben ter ten af y".split())
#: Ends of words that are hardly ever names.
NOUN_ENDS = tuple(
    "tion tions sion ment ments ness ing ity ities ware base able ible ance ence ency ship ism ful less ized ised "
    "ated ology graphy ality ture tive ical ally ously".split()
)

_GROUPS = [
    {word for member in line.partition(": ")[2].split() for word in member.split("=")}
    for line in KINDS.strip().replace("\n  ", " ").splitlines()
]
_IN_KINDS = next(group for group in _GROUPS if "abigail" in group)
GIVEN = frozenset(_GIVEN.split()) | _IN_KINDS
SURNAMES = frozenset(_SURNAMES.split())
NOT_NAMES = (
    frozenset(_NOT_NAMES.split()) | FREQUENT.keys() | CALENDAR | UNITS.keys()
    | {word for group in _GROUPS if group is not _IN_KINDS for word in group}
)  # fmt: skip
