"""Groups of things of one kind that exclude each other: naming another of them means something else.

``<reason>: <member> <member> ...``, members of one group parted by blanks, spellings of one member by ``=``; a line
that begins with a blank goes on with the one before. General vocabulary only. Names that are common words too
("mark", "will", "go", "may") are left out.
"""

from __future__ import annotations

KINDS = """
unit: celsius=centigrade fahrenheit kelvin
unit: dollar=usd euro=eur pound=gbp=sterling yen=jpy yuan=rmb=cny rupee=inr franc=chf peso won=krw ruble=rouble
unit: kilometer=kilometre=km mile meter=metre foot=feet inch=inches yard centimeter=centimetre=cm
  millimeter=millimetre=mm
unit: kilogram=kilo=kg gram lb=lbs ounce=oz tonne=ton
unit: byte kilobyte=kb megabyte=mb gigabyte=gb terabyte=tb petabyte=pb
unit: millisecond=ms second minute hour day week month quarter year decade century
unit: hourly daily=everyday weekly monthly quarterly yearly=annual=annually
date: morning noon=midday afternoon evening night=tonight midnight
date: spring summer autumn winter
date: now=immediately today tomorrow yesterday
name: english french german spanish italian portuguese dutch swedish norwegian danish finnish polish czech russian
  ukrainian turkish arabic hebrew hindi bengali chinese=mandarin cantonese japanese korean vietnamese thai greek
  romanian hungarian indonesian latin
name: python python2 python3 java javascript=js typescript=ts ruby rust golang kotlin scala haskell perl php lua
  elixir erlang clojure fortran cobol
name: windows mac=macos=osx linux ubuntu debian fedora centos redhat=rhel android ios ipados freebsd solaris alpine
name: chrome firefox safari opera internet-explorer
name: mysql postgres=postgresql sqlite mariadb oracle mongodb=mongo redis dynamodb cassandra elasticsearch snowflake
  bigquery redshift
name: aws=amazon azure gcp heroku vercel netlify cloudflare digitalocean
name: github gitlab bitbucket
name: slack discord whatsapp telegram zoom
name: visa mastercard amex paypal stripe klarna
name: docker kubernetes=k8s podman nomad
name: react angular vue svelte django flask rails laravel
name: aaron abigail adam adrian aisha alan alejandro alex alexander alexandra alice alicia amanda amy ana andrea
  andrew andy angela anna anne anthony antonio ashley barbara ben benjamin bob boris brian bruce carl carla carlos
  carmen carol caroline catherine charles charlie charlotte chloe chris christian christina christine claire clara
  claudia daniel daniela dana david deborah dennis diana diego donald donna dorothy edward elena eli elizabeth ella
  emily emma eric erik ethan eva evelyn felix fernando fiona francesca francis gabriel george gloria greg hannah hans
  harry heather helen helena henry hiroshi hugo ian ines ingrid irene isabel isabella ivan jacob james jane janet
  jason jean jeff jennifer jenny jeremy jerry jessica jim joan joe johanna john jonathan jorge jose joseph joshua juan
  julia julian julie karen karl kate katherine kathleen keith kelly ken kenneth kevin kyle larry laura lauren leo leon
  liam linda lisa louis louise lucas lucia lucy luis luke magnus manuel marco marcus margaret maria marie mario martha
  martin mary mateo matthew maya megan mei melissa michael michelle miguel mike mohamed mohammed monica nadia nancy
  naomi natalia natalie nathan nicholas nicole nina noah nora oliver olivia omar oscar pamela patricia patrick paul
  paula pedro peter philip priya rachel ralph raymond rebecca ricardo richard robert roberto roger ronald rosa rosie
  ryan samantha samuel sandra sara=sarah scott sean sebastian sergio simon sofia=sophia sophie stefan stephanie
  stephen=steven susan tanya teresa theresa thomas tim timothy tina tom tony valentina vanessa veronica victor
  victoria vincent virginia walter wei wendy william xavier yuki yusuf zoe
name: africa antarctica asia australia europe
name: argentina austria belgium brazil canada chile china colombia denmark egypt finland france germany greece hungary
  india indonesia ireland israel italy japan kenya korea malaysia mexico morocco netherlands nigeria norway pakistan
  peru philippines poland portugal romania russia singapore spain sweden switzerland taiwan thailand ukraine usa=us
  vietnam
name: amsterdam athens bangkok barcelona beijing berlin boston brussels budapest cairo chicago copenhagen dallas delhi
  denver dubai dublin frankfurt geneva hamburg helsinki houston istanbul jakarta lagos lima lisbon london madrid
  manila melbourne miami milan montreal moscow mumbai munich nairobi osaka oslo paris prague rome santiago seattle
  seoul shanghai stockholm sydney tokyo toronto vancouver vienna warsaw zurich
kind: production=prod staging development=dev sandbox qa
kind: ceo cto cfo coo cmo cio ciso cpo
kind: unit integration load smoke regression e2e acceptance stress performance penetration
kind: finance marketing sales legal hr engineering support procurement logistics accounting security
kind: admin=administrator owner member guest editor viewer moderator superuser
kind: account order subscription invoice ticket booking=reservation message password refund
kind: password email=e-mail phone address username
kind: branch repository=repo tag fork commit
kind: web database=db mail proxy dns cache
kind: cpu memory=ram disk=storage network bandwidth gpu
kind: insert update delete select upsert
kind: get post put patch
kind: pdf csv json xml yaml=yml html markdown docx xlsx=excel pptx png jpeg=jpg gif svg mp3 mp4 zip parquet
kind: http https ftp sftp ssh smtp imap grpc websocket
kind: debug info warning=warn error critical fatal
kind: all active pending archived expired deleted draft scheduled completed cancelled=canceled suspended blocked
  verified
kind: breakfast lunch dinner brunch
kind: small medium large
kind: north south east west northeast northwest southeast southwest
kind: red orange yellow green blue purple pink brown black white gray=grey violet turquoise
kind: gold silver bronze platinum
kind: tea coffee milk juice beer wine soda whisky=whiskey vodka rum lemonade
kind: chocolate vanilla strawberry caramel carrot lemon cheese apple banana cherry coconut raspberry blueberry pumpkin
  mint
kind: beef pork chicken lamb turkey duck fish salmon tuna shrimp tofu
kind: rice pasta bread pizza soup salad sandwich burger noodle
kind: onion garlic potato tomato cucumber cabbage spinach mushroom pepper broccoli
kind: dog=puppy cat=kitten horse cow pig sheep goat rabbit monkey elephant lion tiger bear wolf fox bird
kind: car truck bus train plane=airplane=aeroplane bicycle=bike motorcycle boat ship
kind: guitar piano violin drum flute trumpet cello saxophone
kind: soccer tennis basketball baseball cricket hockey rugby golf volleyball
kind: laptop desktop tablet smartphone
kind: android iphone
kind: circle square triangle rectangle
kind: king queen prince princess
kind: manager director assistant engineer developer designer analyst accountant lawyer intern
kind: flight hotel train taxi
kind: window aisle
kind: economy business first
kind: vegetarian vegan halal kosher
kind: table column row index schema view
kind: title description summary subtitle
kind: merge rebase
kind: nginx apache caddy haproxy
kind: major minor patch
kind: sunny rainy cloudy snowy
kind: half quarter double triple twice
kind: gas electricity water internet
kind: head hand arm leg foot knee shoulder eye ear
"""

#: The same in scripts without blanks: a member is named where it stands anywhere in the text.
HAN_KINDS = """
name: 東京=东京 大阪 京都 名古屋 札幌 福岡 横浜 神戸 北京 上海 广州=廣州 深圳 香港 台北=臺北 南京 武汉=武漢 成都
  重庆=重慶 杭州 ロンドン=伦敦=倫敦 パリ=巴黎 ニューヨーク=纽约=紐約 서울=首尔=ソウル 부산=釜山
name: 日本 中国=中國 韓国=韩国=韓國 美国=美國=アメリカ 英国=英國=イギリス 法国=法國=フランス 德国=德國=ドイツ
  印度=インド 俄罗斯=ロシア 加拿大=カナダ
name: 英語=英语=英文 日本語=日语=日文 中国語=中文=汉语=漢語 韓国語=韩语=韓語 法语=法語=フランス語 德语=德語=ドイツ語
  西班牙语=スペイン語
kind: 紅茶=红茶 緑茶=绿茶 咖啡=コーヒー 牛奶=牛乳 啤酒=ビール 果汁=ジュース
kind: 春天=春 夏天=夏 秋天=秋 冬天=冬
kind: 晴れ=晴天 雨=雨天 雪 曇り=多云
kind: 早上=朝 中午=昼 晚上=夜
"""
