"""Word lists of the error signature's masks. General English and widely used names only: nothing of one data set.

Changing a list changes signatures: raise ``SIGNATURE_VERSION`` with it.
"""

from __future__ import annotations

#: Names that hold a digit and mean the same everywhere; compared case-folded.
KNOWN_NAMES = frozenset(
    "s3 ec2 r53 route53 k8s i18n l10n a11y p2p b2b b2c e2e 2fa mfa2 3ds web3 h2 h3 http1 http2 http3 http/1.0 http/1.1 "
    "http/2 http/3 http/2.0 tls1 tls1.0 tls1.1 tls1.2 tls1.3 tlsv1 tlsv1.1 tlsv1.2 tlsv1.3 ssl2 ssl3 sslv2 sslv3 "
    "oauth1 oauth2 oauth2.0 saml2 ipv4 ipv6 ip4 ip6 inet6 utf8 utf-8 utf16 utf-16 utf32 utf-32 utf8mb4 latin1 latin-1 "
    "iso8859-1 iso-8859-1 cp1252 windows-1252 big5 gb2312 gb18030 base16 base32 base64 base64url sha1 sha-1 sha2 "
    "sha224 sha256 sha-256 sha384 sha512 sha-512 sha3 md5 crc32 blake2 blake3 hs256 hs384 hs512 rs256 rs384 rs512 "
    "es256 es384 es512 ps256 rsa2048 aes128 aes192 aes256 aes-128 aes-256 ed25519 x25519 x509 x.509 pkcs1 pkcs7 "
    "pkcs8 pkcs12 int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 i32 i64 u8 u32 u64 f32 "
    "f64 bf16 fp16 fp32 win32 win64 x86 x64 x86_64 i386 i686 amd64 arm64 armv7 aarch64 python2 python3 py3 pip3 lua5 "
    "perl5 php7 php8 html5 css3 es5 es6 es2015 vue2 vue3 angular2 neo4j log4j slf4j db2 mysql5 mysql8 psycopg2 "
    "psycopg3 boto3 urllib3 httplib2 jinja2 sqlite3 bz2 bzip2 gzip2 7z mp3 mp4 m4a h264 h265 av1 jpeg2000 rfc3339 "
    "rfc2822 rfc822 iso8601 iso-8601 pop3 imap4 smtp2 ext3 ext4 nfs3 nfs4 nfsv3 nfsv4 ssh1 ssh2 oauth-2 web2 gpt2 "
    "llama2 llama3 v8 w3c 3d 2d o365 m365 office365 dynamics365 d3 a2a".split()
)

#: Words right before a number that make it a code of the fault, not a quantity.
CODE_WORDS = frozenset(
    "http https code codes status statuscode statuscodes httpstatus httpcode httpstatuscode exit exitcode exitstatus "
    "exited errno errcode errorcode errornumber sqlcode sqlstate returncode retcode rc signal sig hresult ntstatus "
    "winerror oserror socketerror curl".split()
)
#: Ends of names that hold a code: ``last_status``, ``vendorCode``.
CODE_ENDINGS = ("code", "errno", "status")
#: Words that stand before a number which is a code only when it is long enough or ends its clause.
ERROR_WORDS = frozenset({"error", "err", "errors", "exception", "fault", "failure"})
#: Words after which a 4xx or 5xx that ends its clause is a status: "returned 404", "Forbidden (403)".
BEFORE_STATUS = frozenset(
    "returned returns return responded responds response with got received answered replied gave forbidden found "
    "unauthorized unauthorised request conflict gone entity requests error unavailable gateway timeout "
    "implemented".split()
)
#: Keys whose value says what went wrong: such a value is text, not a variable.
CAUSE_KEYS = (
    frozenset(
        "code status state error err errno reason cause type kind exception message msg detail details description "
        "severity level result outcome title category".split()
    )
    | CODE_WORDS
)
#: What follows a status: the first word of its reason phrase, or "Client Error" and "Server Error".
REASON_PHRASES = {
    "400": {"bad", "client"},
    "401": {"unauthorized", "unauthorised", "client"},
    "402": {"payment", "client"},
    "403": {"forbidden", "client"},
    "404": {"not", "client"},
    "405": {"method", "client"},
    "406": {"not", "client"},
    "408": {"request", "client"},
    "409": {"conflict", "client"},
    "410": {"gone", "client"},
    "412": {"precondition", "client"},
    "413": {"payload", "content", "request", "client"},
    "415": {"unsupported", "client"},
    "416": {"range", "requested", "client"},
    "422": {"unprocessable", "client"},
    "423": {"locked", "client"},
    "424": {"failed", "client"},
    "429": {"too", "client"},
    "431": {"request", "client"},
    "500": {"internal", "server"},
    "501": {"not", "server"},
    "502": {"bad", "server"},
    "503": {"service", "server"},
    "504": {"gateway", "server"},
    "507": {"insufficient", "server"},
}

HTTP_METHODS = frozenset("GET POST PUT PATCH DELETE HEAD OPTIONS".split())

_DAYS = "Mon Tue Wed Thu Fri Sat Sun Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
_MONTHS = (
    "Jan Feb Mar Apr May Jun Jul Aug Sep Sept Oct Nov Dec January February March April June July August September "
    "October November December"
)
#: Names of days and months belong to a time when they stand beside a number (with their capital: "may" is a verb).
DATE_WORDS = frozenset((_DAYS + " " + _MONTHS).split())
#: Words after a number that belong to it: units, halves of the day, zones.
AFTER_NUMBER = frozenset(
    "b kb mb gb tb pb kib mib gib tib byte bytes bit bits kbps mbps ns us µs μs ms msec msecs s sec secs second "
    "seconds millisecond milliseconds microsecond microseconds nanosecond nanoseconds min mins minute minutes h hr "
    "hrs hour hours day days week weeks % am pm utc gmt cet cest est edt cst cdt mst mdt pst pdt bst ist jst".split()
)

TOP_LEVEL = frozenset(
    "com net org edu gov mil io dev app cloud info biz arpa local localdomain internal intranet lan corp test "
    "example invalid".split()
)
#: Country codes, taken for a host only after two more labels: those that are English words
#: or ends of names in programs (``id``, ``in``, ``is``, ``py``) are left out.
COUNTRIES = frozenset(
    "uk de fr nl ru cn jp br au ca ch es se fi dk cz eu kr tw hk sg il tr ua ro hu gr pt ie nz za mx ar cl th vn ph "
    "sa ae ir".split()
)
#: Second labels under which names are registered in several countries.
SECOND_LEVEL = frozenset("co com org net ac gov edu ne or go".split())

#: What may follow "user" without being a user's name.
NOT_A_USER = frozenset(
    "account accounts action agent attribute class code config "
    "configuration context controller credential credentials data database defined does email error events "
    "field file files group groups has home id ids info information input is itself key level "
    "limit list message mode model name names not object or and parameter password permission permissions "
    "pool preferences principal profile property provided query quota record reference request requests response "
    "role roles schema service session sessions setting settings space store string table terms token tokens type "
    "unknown value values was with".split()
)
