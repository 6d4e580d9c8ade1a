"""Pairs of opposites: each line has two sides, words of one side may stand for each other.

General vocabulary, most of it from everyday operations; a word is given in its base form, since stems are compared.
A verb with its particle is joined by ``+``: ``turn+on``.
"""

from __future__ import annotations

OPPOSITES = """
start begin launch boot restart resume unpause | stop end halt terminate kill shutdown pause suspend
enable activate turn+on switch+on power+on | disable deactivate turn+off switch+off power+off
add insert append include | remove delete drop erase exclude omit
create make generate | delete destroy remove erase
increase raise grow enlarge extend scale+up turn+up speed+up | decrease reduce lower shrink shorten scale+down turn+down
minimum min smallest least lowest | maximum max largest most highest
open unlock reopen | close shut lock
grant give assign allow permit authorize | revoke withdraw deny forbid prohibit block refuse
approve accept confirm | reject decline deny refuse
allow permit allowlist whitelist | block forbid deny prohibit ban blocklist blacklist
buy purchase | sell
lend | borrow
send push upload export | receive pull download import
encrypt | decrypt
compress zip pack | decompress unzip unpack extract
encode | decode
attach mount connect join link | detach unmount disconnect leave unlink
install | uninstall
register subscribe enroll | unregister deregister unsubscribe
log+in login sign+in signin | log+out logout sign+out signout
check+in | check+out
opt+in | opt+out
roll+out | roll+back rollback revert
show display reveal unhide | hide conceal
expand | collapse
lock | unlock
pass succeed success successful | fail failure unsuccessful
win | lose
before prior earlier | after later
early | late
first earliest | last latest final
oldest old older | newest new newer
previous preceding | next following
past | future
above over | below under beneath
top upper | bottom lower
front forward | back backward
inside internal inner in-house | outside external outer
up upstream | down downstream
left leftmost | right rightmost
ascending asc | descending desc
high higher tall | low lower short
long longer | short shorter
large larger big bigger great greater | small smaller little tiny
more | less fewer
many | few
always | never seldom rarely
often frequently | rarely seldom
everyone everybody anyone anybody all any every each whole entire everything | only nobody none
all every each whole entire both everything | one single last first latest some part
with including | without excluding
public | private
read | write
readable read-only | writable writeable
input | output
inbound incoming ingress | outbound outgoing egress
client | server
source origin | target destination
sender | recipient receiver
local | remote
online | offline
manual manually | automatic automatically auto
sync synchronous | async asynchronous
static | dynamic
mutable | immutable
temporary temp transient | permanent persistent
primary main master leader | secondary replica standby follower
optional | mandatory required compulsory
valid | invalid
true | false
yes | no
on | off
positive | negative
plus | minus
profit gain | loss
income revenue earnings | expense expenses cost
credit | debit
deposit | withdraw withdrawal
paid | unpaid owed
cheap cheapest | expensive
fast faster quick | slow slower
hot warm | cold cool
wet | dry
light bright | dark dim
full | empty
hard difficult | easy simple
good better best | bad worse worst
right correct | wrong incorrect
strong | weak
safe secure | dangerous insecure unsafe
rich | poor
young younger | old older
alive living | dead
day | night
arrive arrival | depart departure
come | go
enter | exit leave
push | pull
throw | catch
love like enjoy prefer want | hate dislike avoid detest
remember | forget
agree | disagree
encourage | discourage
upgrade | downgrade
upvote | downvote
promote | demote
merge combine join | split separate
freeze | unfreeze thaw
archive | restore unarchive
allocate | deallocate free
acquire | release
serialize | deserialize
provision | deprovision
commit | rollback
maximize maximise | minimize minimise
horizontal horizontally | vertical vertically
vertical | horizontal
odd | even
parent ancestor | child descendant
teacher | student
buyer customer client | seller vendor supplier
hard | soft
smooth | rough
sharp | blunt
deep | shallow
wide broad | narrow
thick | thin
rise climb | fall drop sink
fill | drain empty
build assemble | demolish dismantle
save keep retain preserve | discard
include | exclude
deploy promote | rollback revert undeploy
gain | lose
attack | defend
import importer | export exporter
sunny | rainy cloudy
formal | informal
major | minor
upper uppercase | lowercase
singular | plural
success | error failure
accept | decline
present | absent
shared | private exclusive
exactly | approximately about roughly
employer | employee
landlord | tenant
doctor | patient
man men male boy husband father dad son brother uncle | woman women female girl wife mother mom sister aunt daughter
he him his himself | she her hers herself
my mine our ours | your yours
👍 ✅ | 👎 ❌
now immediately currently | later tomorrow yesterday
win victory | defeat
sit sitting | stand standing
awake | asleep
"""

#: Scripts without blanks: a side speaks when one of its words stands anywhere in the text.
HAN_OPPOSITES = """
启动 啟動 开始 開始 起動 | 停止 结束 結束 终止 終止
打开 打開 开启 開啟 開く 開ける | 关闭 關閉 閉じる 閉める
启用 啟用 有効 激活 | 禁用 停用 無効
增加 增大 提高 增やす 上げる | 减少 減少 降低 減らす 下げる
添加 新增 追加 加入 | 删除 刪除 移除 削除
允许 允許 許可 批准 承認 同意 | 禁止 拒绝 拒絕 拒否 却下
购买 購買 購入 买入 買う | 出售 卖出 販売 売る
最大 最高 最多 | 最小 最低 最少
之前 以前 前に | 之后 之後 以后 以後 後に
公开 公開 | 私有 非公開 保密
读取 讀取 読み取り | 写入 寫入 書き込み
登录 登入 ログイン | 登出 退出 ログアウト
上传 上傳 アップロード | 下载 下載 ダウンロード
成功 | 失败 失敗
喜欢 喜歡 好き | 讨厌 討厭 嫌い
安装 安裝 インストール | 卸载 解除安裝 アンインストール
加密 暗号化 | 解密 復号
输入 輸入 入力 | 输出 輸出 出力
收入 | 支出
上涨 上漲 上升 値上げ 上昇 | 下跌 下降 値下げ 下落
左 | 右
买家 買家 買い手 | 卖家 賣家 売り手
白天 昼間 | 夜晚 夜間
第一 最初 | 最后 最後
全部 所有 すべて 全て | 部分 一部
시작 | 중지 종료
추가 | 삭제 제거
활성화 | 비활성화
증가 | 감소
열기 | 닫기
허용 | 거부 차단
"""
