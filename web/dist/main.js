/* SPDX-License-Identifier: Apache-2.0; made of web/page by go generate ./web */
function count(n){if(n==null)return"–";for(let[size3,letter]of[[1e9,"G"],[1e6,"M"],[1e4,"k"]])if(n>=size3)return digits(n/(letter==="k"?1e3:size3))+letter;return String(
Math.round(n))}function digits(n){return n>=100?n.toFixed(0):n>=10?n.toFixed(1).replace(/\.0$/,""):n.toFixed(2).replace(/\.?0+$/,"")}function age(seconds){if(seconds==
null)return"–";let s=Math.max(0,seconds);if(s<1)return s===0?"0 s":s<.01?`${digits(s*1e3)} ms`:`${s.toFixed(s<.1?2:1)} s`;if(s<60)return`${Math.floor(s)} s`;let whole=Math.
floor(s);return s<3600?`${Math.floor(whole/60)} m ${pad(whole%60)} s`:s<86400?`${Math.floor(whole/3600)} h ${pad(Math.floor(whole/60)%60)} m`:`${Math.floor(whole/
86400)} d ${Math.floor(whole/3600)%24} h`}function span(seconds){return age(seconds).replace(/ 0?0 [smh]$/,"")}function shortAge(seconds){if(seconds==null)return"\
–";let s=Math.floor(Math.max(0,seconds));return s<60?`${s}s`:s<3600?`${Math.floor(s/60)}m`:s<86400?`${Math.floor(s/3600)}h`:`${Math.floor(s/86400)}d`}function rate(perSecond){
return perSecond==null?"–":perSecond<=0?"0/s":perSecond>=1e4?count(perSecond)+"/s":perSecond>=.1?(perSecond>=100?perSecond.toFixed(0):digits(perSecond))+"/s":
perSecond*60>=.1?digits(perSecond*60)+"/min":digits(perSecond*3600)+"/h"}function pad(n){return String(n).padStart(2,"0")}function clock(ms){let d=new Date(ms);
return`${pad(d.getHours())}:${pad(d.getMinutes())}:${pad(d.getSeconds())}`}var months=Object.freeze(["Jan","Feb","Mar","Apr","May","Jun","Jul","Aug","Sep","Oct",
"Nov","Dec"]);function day(ms){let d=new Date(ms);return`${d.getDate()} ${months[d.getMonth()]}`}function when(ms){return day(ms)===day(Date.now())?clock(ms):`${day(
ms)} ${clock(ms)}`}function signed(n,say2=count){return n===0?"0":`${n>0?"+":"−"}${say2(Math.abs(n))}`}function label(node){return visible(node.name||node.id)}
var hostile=/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;function visible(text4){return text4.replace(hostile,c=>"\\u"+
c.charCodeAt(0).toString(16).padStart(4,"0"))}function short(text4,length){let line3=text4.slice(0,4*length+4).replace(/\s+/g," "),points=Array.from(line3);return points.
length<=length&&text4.length<=line3.length?line3:points.slice(0,length-1).join("").trimEnd()+"…"}function twoLines(text4,width3){let line3=short(text4,2*width3);
if(Array.from(line3).length<=width3)return[line3];let at2=line3.lastIndexOf(" ",width3);return at2<=0?[short(text4,width3)]:[line3.slice(0,at2),short(line3.slice(
at2+1),width3)]}function plural(n,one,many){return`${count(n)} ${n===1?one:many??one+"s"}`}var svgNamespace="http://www.w3.org/2000/svg";function el(tag2,attributes,...children){return fill(document.createElement(tag2),attributes,children)}function svg(tag2,attributes,...children){
return fill(document.createElementNS(svgNamespace,tag2),attributes,children)}function fill(element2,attributes,children){for(let[key4,value]of Object.entries(attributes??
{}))key4.startsWith("on")?element2.addEventListener(key4.slice(2),value):value===!0?element2.setAttribute(key4,""):value!==!1&&value!=null&&element2.setAttribute(
key4,key4.startsWith("data-")?String(value):visible(String(value)));for(let child of children)child&&element2.append(typeof child=="string"?visible(child):child);
return element2}function name(text4,id){return el("bdi",{class:"name",title:id??text4},text4)}function byId(id){let found=document.getElementById(id);if(!found)
throw new Error(`the page has no element ${id}`);return found}function say(node,text4){text4=visible(text4),node.textContent!==text4&&(node.textContent=text4)}function syncRows(parent,items,key4,make,update){
let old=new Map;for(let child of parent.children)old.set(child.getAttribute("data-key")??"",child);let next=parent.firstElementChild;for(let item of items){let k=key4(
item),row2=old.get(k);row2?old.delete(k):(row2=make(item),row2.setAttribute("data-key",k)),row2===next?next=next.nextElementSibling:parent.insertBefore(row2,next),
update(row2,item)}for(let row2 of old.values())row2.remove()}function replaceKeepingFocus(parent,...children){let active=document.activeElement,key4=active&&parent.
contains(active)?active.getAttribute("data-key"):null,scroll=parent.scrollTop;if(parent.replaceChildren(...children.filter(Boolean)),parent.scrollTop=scroll,key4!==
null){for(let candidate of parent.querySelectorAll("[data-key]"))if(candidate.getAttribute("data-key")===key4){candidate.focus({preventScroll:!0});return}}}function marked({line:text4,fill:fill2},tag2){let words3=fill2.map(b=>b.word).filter(word=>/^[A-Z]/.test(word)),parts2=words3.length?text4.split(new RegExp(`\\b(${words3.
map(w=>w.replace(/\W/g,"\\$&")).join("|")})\\b`)):[text4];return el(tag2,{class:"line"},...parts2.map((part2,i)=>i%2?el("mark",null,part2):part2))}function line(connect){
return connect?.commands.length?marked(connect.commands[0],"code"):null}function connecting(connect){let known=new Set;return(connect?.commands??[]).flatMap(command=>{
let fresh3=command.fill.filter(b=>!known.has(b.word));for(let b of fresh3)known.add(b.word);return[el("p",null,`${command.does}:`),marked(command,"pre"),el("dl",
{class:"fill"},...fresh3.flatMap(b=>[el("dt",null,el("code",null,b.word)),el("dd",null,b.means)]))]})}var hour=36e5,margin=3e3,ranges=Object.freeze({"":hour,"6h":6*hour,"24h":24*hour,"7d":168*hour}),rangeNames=Object.freeze({"":"1 h","6h":"6 h","24h":"24 h","7d":"\
7 d"}),finest=1440,units=[1,2,5,10,15,30,60,120,180,240,360,720,1440].map(minutes=>minutes*6e4);function spanOf({latest,where,clock:time}){let h=latest?.history,
to=h?Date.parse(h.to):time.now(),recent=h?Date.parse(h.from)+margin:to-hour,oldest3=h?.archive?Math.min(recent,Date.parse(h.archive.from)+margin):recent,names=Object.
keys(ranges),choices=names.filter((name2,i)=>i===0||oldest3<to-ranges[names[i-1]]),holds=name2=>!where.at||where.at>=to-ranges[name2],wanted=choices.includes(where.
range)?where.range:where.range?choices[choices.length-1]:"",range=choices.slice(choices.indexOf(wanted)).find(holds)??choices[choices.length-1],length=ranges[range],
first=Math.max(oldest3,to-length),from=Math.min(first,to-6e4),step=range?Math.max((h?.archive?.step??0)*1e3,length/finest):(h?.step||5)*1e3;return{range,choices,
from,to,first,step,steps:Math.max(1,Math.ceil((to-from)/step)),kept:!!h}}function grain({latest},at2){let h=latest?.history;return((h&&h.archive&&at2<Date.parse(
h.from)?h.archive.step:h?.step)||5)*1e3}function ticks({from,to},most9){let unit=units.find(u=>(to-from)/u<=most9)??Math.ceil((to-from)/most9/units[units.length-
1])*units[units.length-1],zone=new Date(to).getTimezoneOffset()*6e4,out=[];for(let at2=Math.ceil((from-zone)/unit)*unit+zone;at2<to;at2+=unit){let time=clock(at2);
out.push({at:at2,share:(at2-from)/(to-from),text:time==="00:00:00"?day(at2):time.slice(0,5)})}return out}var apart=5e3,named=3,states=Object.freeze([{id:"login",grade:"bad",of:"any",offline:!0,outdated:"all",when:s=>s.model.live.refusal?.status===401,words:s=>`The \
sidecar has not accepted the login of this page since ${ago(s.lostAt)}. ${shown(s)} Log in again.`,act:()=>button("log in",()=>location.reload())},{id:"full",grade:"\
bad",of:"any",offline:!0,outdated:"all",when:s=>[429,503].includes(s.model.live.refusal?.status??0),words:s=>`The sidecar has no room for this page: ${s.model.live.
refusal?.text}. ${shown(s)} This page tries again every ${age((s.model.live.refusal?.after??0)/1e3)}. Close other pages of this sidecar, or raise --web.viewers \
or --web.viewers-per-address there.`},{id:"refused-page",grade:"bad",of:"any",offline:!0,outdated:"all",when:s=>s.model.live.refusal&&![401,429,503].includes(s.
model.live.refusal.status),words:s=>`The server has answered this page with an error since ${ago(s.lostAt)}: ${s.model.live.refusal?.status} ${s.model.live.refusal?.
text}. ${shown(s)} This page tries again. Look at the log of the sidecar, or of a proxy in front of it.`},{id:"lost",grade:"bad",of:"any",offline:!0,outdated:"a\
ll",when:s=>s.lost&&!s.model.live.refusal,words:s=>s.model.live.received?`The sidecar has not answered since ${ago(s.lostAt)}. ${shown(s)} This page tries again\
. Check that pnagent serve runs at ${location.host}.`:`The sidecar does not answer yet. This page tries again. Check that pnagent serve runs at ${location.host}\
.`},{id:"deaf",grade:"bad",outdated:"all",when:({model:model2})=>model2.overview?.nats&&!model2.overview.nats.connected,words:({model:model2})=>{let{since:since2,
reason,disconnects,server}=model2.overview?.nats,where=server||model2.overview?.sidecar?.connect?.servers,begun=disconnects?`since ${then(model2,Date.parse(since2))}`:
"since its start",up=model2.overview?.sidecar?.above&&!model2.overview.up_nats?" The sidecar above, which is reached the same way, shows these nets with their l\
ast known state.":"";return`The sidecar has had no connection to NATS${where?` at ${where}`:""} ${begun} and receives no engine: ${reason||"no reason known"}. T\
he numbers shown are not current: they are the last known, and tokens grow older.${up} The sidecar tries again by itself. Check that the NATS server runs.`}},{id:"\
settling",grade:"warn",outdated:"all",after:1500,when:({model:model2})=>model2.overview?.deaf&&model2.overview.nats?.connected!==!1&&model2.overview.generation>
0,words:({model:model2})=>`The sidecar is connected to NATS again${model2.overview?.nats?` since ${then(model2,Date.parse(model2.overview.nats.since))}`:""} and\
 still waits for its sources: each is shown as it was before the break until it is received again. That takes some seconds.`},{id:"silent",grade:"bad",outdated:"\
net",when:({model:model2})=>health(model2)==="silent",words:({model:model2})=>`No source of ${netName(model2)} is up. ${silent(model2)} The numbers shown are th\
e last known: they are not zero, and tokens grow older. Check ${who(model2,"stale")}.`},{id:"gone",grade:"warn",outdated:"net",when:({model:model2})=>health(model2)===
"gone",words:({model:model2})=>`No engine of ${netName(model2)} runs any more: each ended, or was silent for so long that it was forgotten. Where their tokens w\
ere is not known any more (–); counters are as they were. Start an engine:`,act:({model:model2})=>line(model2.overview?.sidecar?.connect)},{id:"arriving",grade:"\
warn",after:2e3,when:({model:model2})=>health(model2)==="arriving",words:({model:model2})=>`${listed(mine(model2,"undefined").map(x=>x.name))} of ${netName(model2)}\
 is received, and its definition or some of its numbers are not known yet. What is missing is shown as –. The sidecar asks for it.`},{id:"never",grade:"warn",
when:({model:model2})=>health(model2)==="never",words:({model:model2})=>`No engine has reported ${netName(model2)} to this sidecar yet. It is drawn from a file \
or from what is kept, and its numbers are not known (–). Start an engine:`,act:({model:model2})=>line(model2.overview?.sidecar?.connect)},{id:"unknown",grade:"\
warn",of:"any",outdated:({model:model2})=>model2.scene?"net":"",when:({model:model2})=>model2.where.net&&model2.latest&&!model2.latest.nets.some(n=>n.id===model2.
where.net)&&(model2.latest.nets.length||model2.scene&&!model2.moment),words:({model:model2})=>model2.moment&&model2.net?`This sidecar has the net “${model2.where.
net}” no more, so it cannot be drawn.`:model2.latest?.nets.length?`This sidecar has no net “${model2.where.net}”: no engine has reported it, or it was forgo\
tten. It is shown once an engine reports it. Choose another net.`:`This sidecar has received no net yet. The drawing of “${model2.where.net}” is an earlier on\
e, and its numbers are not current.`,act:({model:model2})=>model2.latest?.nets.length?button("choose a net",()=>choose()):null},{id:"unknown-node",grade:"warn",
of:"any",when:({model:model2})=>model2.scene&&(model2.where.kind==="place"||model2.where.kind==="transition")&&model2.selected()<0,words:({model:model2})=>`${netName(
model2)} has no ${model2.where.kind} “${model2.where.id}”: the link is wrong, or the net was defined anew without it. Search for another one with /.`,act:({
model:model2})=>button("close",()=>model2.select("",""))},{id:"unknown-instance",grade:"warn",of:"any",when:({model:model2})=>model2.where.kind==="instance"&&model2.
unfound===model2.where.id,words:({model:model2})=>`No source of ${netName(model2)} that is up has an instance “${model2.where.id}”, and it was not among the o\
ldest tokens in the last hour: the link is wrong, or the instance ended before that.`,act:({model:model2})=>button("close",()=>model2.select("",""))},{id:"unkno\
wn-around",grade:"warn",of:"any",when:({model:model2})=>model2.scene&&model2.where.around&&around(model2)<0,words:({model:model2})=>`${netName(model2)} has no ${model2.
where.around.replace(" "," “")}”, so the whole net is shown instead of its surroundings.`,act:({model:model2})=>button("show the whole net",()=>model2.address.
go({around:""}))},{id:"unknown-time",grade:"warn",of:"any",offline:!0,when:({model:model2})=>!model2.where.at&&askedTime(),words:()=>`The link asks for the time\
 “${askedTime()}”, which is not one such as 2026-03-01T12:00:00Z. The numbers shown are those of now.`},{id:"undrawn",grade:"bad",of:"any",when:({model:model2})=>model2.
trouble,words:({model:model2})=>`${model2.trouble} The lists beside it are right. This page tries again with the next numbers. Look at the log of the sidecar.`},
{id:"past",grade:"past",of:"then",offline:!0,when:({model:model2})=>model2.moment,words:({model:model2})=>past(model2),act:({model:model2})=>button("back to liv\
e",()=>model2.travel(0))},{id:"deaf-then",grade:"warn",of:"then",when:({model:model2})=>model2.overview?.nats&&!model2.overview.nats.connected,words:({model:model2})=>{
let{since:since2,reason}=model2.overview?.nats;return`The sidecar had no connection to NATS for ${age((model2.now()-Date.parse(since2))/1e3)} and received no en\
gine: ${reason||"no reason known"}. The numbers shown were not current then.`}},{id:"silent-then",grade:"warn",of:"then",when:({model:model2})=>model2.net&&model2.
net.sources_up===0,words:({model:model2})=>`No source of ${netName(model2)} was up: the numbers are those of the last messages before that.`},{id:"above-then",grade:"\
warn",of:"then",when:({model:model2})=>model2.overview?.up_nats&&!model2.overview.up_nats.connected,words:({model:model2})=>{let{since:since2,reason}=model2.overview?.
up_nats;return`The sidecar had no connection to the NATS of the sidecar above (--up.nats) for ${age((model2.now()-Date.parse(since2))/1e3)}: ${reason||"no reaso\
n known"}. That sidecar showed these nets with their last known state.`}},{id:"partial",grade:"warn",when:({model:model2})=>model2.net?.sources_up&&model2.net.sources_stale,
words:({model:model2})=>`${plural(model2.net?.sources_stale,"source")} of ${netName(model2)} ${model2.net?.sources_stale===1?"is":"are"} silent, ${count(model2.
net?.sources_up)} up. ${silent(model2)} The sums hold the last known numbers of a silent source, and its tokens grow older. Check ${who(model2,"stale")}.`},{id:"\
refused",grade:"warn",outdated:({model:model2})=>health(model2)==="refused"?"net":"",when:({model:model2})=>model2.overview?.refused?.length,words:({model:model2})=>{
let all=model2.overview?.refused??[],sources=all.reduce((n,r)=>n+r.sources,0),each=all.slice(0,named).map(r=>`${r.reason}: ${r.source} of ${netName(model2,r.net)}${r.
sources>1?` and ${r.sources-1} more`:""} (${r.text}). ${advice(r.reason)}`),more2=all.length>named?` ${plural(all.length-named,"more reason")}: see the list of \
sources.`:"";return`The messages of ${plural(sources,"source")} are refused. What ${sources===1?"it does":"they do"} now is not shown; the sums hold the last nu\
mbers that were accepted. By reason: ${each.join(" ")}${more2}`},act:({model:model2})=>runbook(model2,model2.overview?.refused?.[0].reason==="conflict"?"sourceC\
onflict":"sourceRefused")},{id:"skew",grade:"warn",when:({model:model2})=>model2.overview?.skewed,words:({model:model2})=>{let{sources,worst}=model2.overview?.skewed,
each=worst.slice(0,named).map(w=>`${w.name} of ${netName(model2,w.net)} is ${off(w.ahead_seconds)}`);return`The clock of ${plural(sources,"source")} differs fro\
m that of the sidecar: ${each.join(", ")}${sources>each.length?` and ${sources-each.length} more`:""}. Ages and times here are right: the sidecar corrects them \
by the difference. Times in the source’s own log differ by it. Synchronise its clock.`}},{id:"pace",grade:"warn",when:({model:model2})=>model2.overview?.interval_asked_seconds,
words:({model:model2})=>`The sidecar has too much work with so many engines and asked them to publish each ${age(model2.overview?.interval_asked_seconds)}. The \
numbers here are exact, and late by up to that. Divide the engines among several sidecars, or give it a faster processor.`},{id:"browser-clock",grade:"warn",when:({
model:model2})=>Math.abs(model2.clock.ahead??0)>apart,words:({model:model2})=>{let ahead3=-(model2.clock.ahead??0)/1e3;return`The clock of this computer is ${age(
Math.abs(ahead3))} ${ahead3>0?"ahead of":"behind"} that of the sidecar. Ages here are right. Times of day are by the sidecar’s clock, and differ from this compu\
ter’s by that. Synchronise the clock that is wrong.`}},{id:"above",grade:"warn",when:({model:model2})=>model2.overview?.up_nats&&!model2.overview.up_nats.connected,
words:({model:model2})=>{let{since:since2,reason,disconnects}=model2.overview?.up_nats;return`The sidecar has had no connection to the NATS of the sidecar above\
 (--up.nats) ${disconnects?`since ${then(model2,Date.parse(since2))}`:"since its start"}: ${reason||"no reason known"}. That sidecar shows these nets with their\
 last known state. The numbers on this page are current. This sidecar tries again by itself.`}},{id:"below",grade:"info",when:({model:model2})=>model2.overview?.
sources.some(x=>x.below&&x.net===model2.where.net&&x.state!=="gone"),words:({model:model2})=>{let all=(model2.overview?.sources??[]).filter(x=>x.below&&x.net===
model2.where.net&&x.state!=="gone");return`The numbers of ${netName(model2)} come from ${plural(all.length,"sidecar")} below this one, each of which adds up its\
 own engines: ${listed(all.map(x=>`${x.name} (${age(heard(model2,x))} ago)`))}.`}},{id:"branch",grade:"info",when:({model:model2})=>model2.overview?.sidecar?.share||
model2.overview?.sidecar?.above,words:({model:model2})=>{let{share:share2,above}=model2.overview?.sidecar,part2=share2?`This sidecar has share ${share2} of the \
sources, so its numbers are a part of the whole.`:"This sidecar has the sources of its own NATS.";return above?`${part2} The sidecar above, in ${above.prefix}, \
has the sums; this one is ${above.source} there.`:part2}},{id:"standby",grade:"info",when:({model:model2})=>model2.overview?.sidecar?.duty&&!model2.overview.sidecar.
duty.on&&model2.overview.sidecar.duty.others>0,words:()=>"This sidecar stands by: another one of its pair is on duty and sends the notifications. The numbers an\
d alarms here are its own, and current."},{id:"duty",grade:"info",when:({model:model2})=>model2.overview?.sidecar?.duty?.on&&model2.overview.sidecar.duty.others>
0,words:({model:model2})=>`This sidecar is on duty: it sends the notifications, and ${plural(model2.overview?.sidecar?.duty?.others,"other sidecar")} ${model2.overview?.
sidecar?.duty?.others===1?"stands":"stand"} by.`},{id:"newer",grade:"info",of:"any",when:s=>s.newer,words:()=>"A newer version of this page is available.",act:()=>button(
"reload",()=>location.reload())}]),stages=Object.freeze([{id:"absent",when:({model:model2})=>model2.moment&&!model2.moment.asking&&!model2.shown,title:()=>"No d\
ata to show",words:({model:model2})=>model2.lacks},{id:"asking",when:({model:model2})=>model2.moment&&!model2.shown,title:()=>"",words:()=>"asking …"},{id:"st\
arting",when:({model:model2})=>model2.latest?.generation===0,title:()=>"The sidecar starts",words:()=>"It has not added up anything yet. Nets appear here within\
 seconds."},{id:"no-nats",when:({model:model2})=>none(model2)&&model2.latest?.nats?.connected===!1,title:()=>"Waiting for NATS",words:({model:model2})=>`The sid\
ecar has received no net, because it has no connection to NATS${at(model2)}. Once that server runs, an engine connects like this:`},{id:"none",when:({model:model2})=>none(
model2),title:()=>"Waiting for the first engine",words:({model:model2})=>{let{connect,share:share2}=model2.overview?.sidecar??{},part2=share2?` It takes share ${share2}\
 of the sources: an engine of another share appears at the sidecar of that share.`:"",wanted=model2.where.net?` The net “${model2.where.net}” of the link is s\
hown once an engine reports it.`:"";return`The sidecar is connected to NATS${at(model2)} and has received no net${connect?` in the subject space ${connect.prefix}`:
""}.${part2}${wanted}`}},{id:"no-such-net",when:({model:model2})=>model2.latest&&model2.where.net&&!model2.latest.nets.some(n=>n.id===model2.where.net),title:({
model:model2})=>`No net “${model2.where.net}”`,words:()=>"There is nothing to draw."},{id:"waiting",when:s=>!s.lost&&!s.model.live.refusal&&!s.model.trouble,
title:()=>"",words:()=>"fetching the net …"}]);function none(model2){return model2.latest!==null&&model2.latest.generation>0&&model2.latest.nets.length===0}function at(model2){
let where=model2.overview?.nats?.connected?model2.overview.nats.server:model2.overview?.sidecar?.connect?.servers;return where?` at ${where}`:""}function health(model2){
let{net:net2}=model2;return!net2||net2.sources_up?"":net2.sources_stale||mine(model2,"stale").length?"silent":mine(model2,"refused").length?"refused":mine(model2,
"undefined").length?"arriving":net2.firings==null&&!mine(model2,"gone").length?"never":"gone"}function mine(model2,state){return(model2.overview?.sources??[]).filter(
x=>x.net===model2.where.net&&x.state===state)}function silent(model2){let all=mine(model2,"stale").sort((a,b)=>(b.last_heard_age_seconds??0)-(a.last_heard_age_seconds??
0));if(!all.length)return"";let each=all.map(x=>`${x.below?"the sidecar below ":""}${x.name} since ${then(model2,model2.clock.now()-1e3*heard(model2,x))}`);return`\
Silent: ${listed(each)}.`}function who(model2,state){return mine(model2,state).some(x=>x.below)?"the sidecars below, their hosts and their connection to NATS":"\
the engines, their hosts and their connection to NATS"}function heard(model2,source2){return(source2.last_heard_age_seconds??0)+model2.passed()}function netName(model2,id=model2.
where.net){let net2=model2.overview?.nets.find(n=>n.id===id)??model2.latest?.nets.find(n=>n.id===id);return net2?label(net2):`“${id}”`}function listed(names){
return names.length>named+1?`${names.slice(0,named).join(", ")} and ${names.length-named} more`:names.join(", ")}function off(seconds){return`${age(Math.abs(seconds))}\
 ${seconds>0?"ahead":"behind"}`}function ago(ms){return`${clock(ms)} (${age((Date.now()-ms)/1e3)})`}function then(model2,ms){return`${clock(ms)} (${age(Math.max(
0,model2.clock.now()-ms)/1e3)})`}function shown({model:model2}){return model2.moment?"The numbers of the past that are shown stay.":model2.live.received?`The nu\
mbers shown are ${age((Date.now()-model2.live.received)/1e3)} old.`:"Nothing can be shown."}function past(model2){let moment3=model2.moment;if(moment3.asking)return`\
Asking for ${when(moment3.asked)} …`;if(!moment3.overview&&!moment3.frame)return model2.lacks;let parts2=[`The data shown is of ${when(moment3.at)}, ${age((model2.
clock.now()-moment3.at)/1e3)} ago${moment3.archive?", from the archive":""}.`,model2.lacks];return model2.comparing&&parts2.push(model2.current?"Compared with n\
ow: + more now, − fewer now, same: the oldest token is still there.":"It cannot be compared: the numbers of now are not known."),parts2.filter(Boolean).join("\
 ")}function around({scene,where}){let[kind,...id]=where.around.split(" ");return scene?.find(kind,id.join(" "))??-1}function askedTime(){let text4=new URLSearchParams(
location.hash.slice(1)).get("at")??"";return Number.isFinite(Date.parse(text4))?"":text4}function button(words3,does){return el("button",{type:"button",onclick:does},
words3)}function runbook(model2,kind){let href=model2.overview?.links?.runbooks[kind];return href?el("a",{href,target:"_blank",rel:"noopener"},"runbook"):null}function choose(){
let lists2=document.getElementById("lists");lists2&&getComputedStyle(lists2).display==="none"&&document.getElementById("menu")?.click(),lists2?.querySelector(".\
row.net")?.focus()}var advices=Object.freeze({conflict:"Stop one of the two processes, or give it another --source.",counter_fell:"Restart the engine, so that i\
t counts as a new process.",wrong_size:"Restart the engine: it publishes rows of another definition than it names.",definition_held:"If its definition is right,\
 give its file to pnagent serve.",net_not_allowed:"Have --net-allow of this sidecar name the net, or stop the source.",old_fence:"Another process has taken its \
region over: stop this one.",too_many_sources:"Stop sources that should not publish, or raise --collect.max-sources.",too_many_rows:"Stop sources that should no\
t publish, or raise --collect.max-rows.",too_many_nets:"Stop sources that should not publish.",too_many_definitions:"Run one definition of the net in all its en\
gines.",bad_definition:"Correct the definition of its net."});function advice(reason){return advices[reason]??"pnagent wire check names what to change in its me\
ssages."}var version=/\/assets\/(\w+)\//.exec(import.meta.url)?.[1]??"",patience=1500,spread=2e3,grades=Object.freeze({bad:["■","Not current: "],warn:["▲","Attention\
: "],past:["◷",""],info:["i",""]}),Banners=class{constructor(model2){this.model=model2,this.root=byId("banners"),this.link=byId("link"),this.empty=byId("empty"),
this.newer=!1,this.lostAt=Date.now(),this.down=!0,this.since=new Map,this.told=new Set,model2.on("address overview drawing frame link",()=>this.show()),model2.live.
addEventListener("down",()=>{this.down||(this.lostAt=Date.now()),this.down=!0}),model2.live.addEventListener("up",event=>{this.down=!1,event.detail&&this.#version()}),
this.root.addEventListener("click",event=>event.target.closest(".banner")?.classList.toggle("open")),setInterval(()=>this.show(),500)}show(){let{model:model2}=this,
{up}=model2.live,lost=!up&&Date.now()-this.lostAt>patience,situation={model:model2,lost,lostAt:this.lostAt,newer:this.newer},shows=({of="now"})=>of==="any"||of===
(model2.moment?"then":"now"),all=states.filter(state=>(!lost||state.offline)&&shows(state)&&this.#lasts(state,situation)),outdated=all.map(state=>typeof state.outdated==
"function"?state.outdated(situation):state.outdated??"");this.#grey(outdated.includes("all"),outdated.includes("net"));let now=model2.moment?"past":model2.outdated?
"not current":"live";say(this.link,up?now:model2.live.received?"reconnecting":"connecting"),this.link.className=`link ${up?"up":"down"}${model2.outdated?" old":
""}${model2.moment?" at-past":""}`,syncRows(this.root,all,state=>state.id,state=>row(state,situation),(element2,state)=>say(element2.querySelector("bdi"),state.
words(situation))),this.root.tabIndex=all.length&&this.root.scrollHeight>this.root.clientHeight?0:-1;let stage2=this.#stage(situation);this.#tell(stage2?[...all,
stage2]:all,situation)}#lasts(state,situation){if(!state.when(situation))return this.since.delete(state.id),!1;let since2=this.since.get(state.id)??Date.now();return this.
since.set(state.id,since2),Date.now()-since2>=(state.after??0)}#grey(all,net2){let{model:model2}=this,{received}=model2.live,before=model2.outdated;model2.outdated=
(all||net2)&&received>0&&!model2.moment,document.documentElement.classList.toggle("outdated",model2.outdated),document.documentElement.classList.toggle("all-out\
dated",all&&model2.outdated),model2.outdated!==before&&model2.dispatchEvent(new Event("frame"))}#stage(situation){let{latest,scene,where,moment:moment3,shown:shown3}=this.
model,found=scene&&(!moment3||shown3)?void 0:stages.find(stage3=>stage3.when(situation)),stage2=where.table&&["waiting","asking"].includes(found?.id??"")?void 0:
found;this.empty.hidden=!stage2,byId("stage").classList.toggle("no-data",moment3!==null&&!shown3);let[title,words3]=stage2?[stage2.title(situation),stage2.words(
situation)]:["",""],connect=stage2&&["no-nats","none"].includes(stage2.id)?latest?.sidecar?.connect:void 0,absent=stage2?.id==="absent"?moment3:null,key4=JSON.stringify(
[stage2?.id,title,words3,connect,absent?.before]);if(this.empty.dataset.key===key4)return stage2;this.empty.dataset.key=key4,this.empty.dataset.state=stage2?.id??
"";let all=stage2?[title&&el("h2",null,title),el("p",{class:title?"":"quiet"},words3),...connecting(connect),connect&&more(),absent&&this.#others(absent)]:[];return this.
empty.replaceChildren(...all.filter(x=>x instanceof Node)),stage2}#others({before}){let{model:model2}=this,h=model2.latest?.history,first=h?Date.parse(h.archive?.
from??h.from)+margin:0,go=(at2,text4)=>el("button",{type:"button",class:"go",onclick:()=>model2.travel(at2)},text4);return el("p",{class:"choices"},before>0&&go(
before+1,`to ${when(before)}`),first>0&&model2.where.at<first&&go(first,`to ${when(first)}`),go(0,"to now"))}#tell(all,situation){let fresh3=all.filter(state=>!this.
told.has(state.id)).map(state=>state.words(situation)),were=this.told.has("numbers");this.told=new Set(all.map(state=>state.id)),this.model.outdated?this.told.add(
"numbers"):were&&fresh3.push("The numbers are current again."),fresh3.length&&say(byId("said"),fresh3.join(" "))}async#version(){await new Promise(done=>setTimeout(
done,Math.random()*spread));try{let answer2=await fetch(location.pathname,{method:"HEAD",cache:"no-store"});answer2.ok&&(this.newer=!answer2.headers.get("ETag")?.
includes(version)),this.show()}catch{}}};function row(state,situation){let[sign,meaning]=grades[state.grade];return el("p",{class:`banner ${state.grade} ${state.
id}`},el("span",{class:"sign","aria-hidden":"true"},sign),meaning&&el("span",{class:"unseen"},meaning),el("bdi",null),state.act?.(situation))}function more(){return el(
"p",{class:"quiet"},"pnagent attach --help lists adapters for other engines. To draw a net before an engine runs it, add its file to the command line of this si\
decar (pnagent serve … NET.pnml).")}var young=10,Badge=class{constructor(flow){this.flow=flow,this.tokens=el("b",{class:"held num"}),this.age=el("span",{class:"since num"}),this.change=el("span",{
class:"change num"}),this.stop=el("span",{class:"stop"},"⊖"),this.held=el("div",{class:"state"},this.tokens,this.age,this.stop,this.change),this.rate=el("div",
{class:"rate num"}),this.written=""}show(state,scale,change){let{tokens,age:age3}=state,held2=tokens?count(tokens):tokens===null&&!this.flow?"–":"",since2=tokens&&
age3&&age3>=young?shortAge(age3):"",often=state.rate?rate(state.rate):"",written2=[held2,since2,often,state.blocked,scale.fill(state.heat),change].join();return written2===
this.written?!1:(this.written=written2,say(this.tokens,held2),say(this.age,since2),this.stop.hidden=!state.blocked,say(this.change,change),this.held.hidden=!change&&
!tokens&&!state.blocked&&(tokens!==null||this.flow),this.held.classList.toggle("old",state.heat>.5),this.held.style.setProperty("--fill",scale.fill(state.heat)),
this.held.style.setProperty("--on-fill",scale.ink(state.heat)),say(this.rate,often),this.rate.hidden=!often,!0)}};var ApiError=class extends Error{constructor(status,text4){super(text4),this.status=status}};async function ask(what,query,signal){return read(await fetch(address(
what,query),{signal,headers:{Accept:"application/json"}}))}async function text(what,query){let answer2=await fetch(address(what,query));return answer2.ok?answer2.
text():read(answer2)}async function download(what,query){let answer2=await fetch(address(what,query));if(!answer2.ok)return read(answer2);let[,plain,encoded]=/filename(?:="?([^";]+)|\*=utf-8''([^;]+))/i.
exec(answer2.headers.get("Content-Disposition")??"")??[];return{blob:await answer2.blob(),name:plain??decodeURIComponent(encoded??what),lacks:answer2.headers.get(
"Pnagent-Incomplete")??""}}async function post(what,change){let headers={Accept:"application/json","Content-Type":"application/json"};return read(await fetch(address(
what),{method:"POST",headers,body:JSON.stringify(change)}))}async function read(answer2){if(answer2.ok)return answer2.json();let text4=answer2.statusText;try{text4=
(await answer2.json()).error??text4}catch{}throw new ApiError(answer2.status,text4)}function address(what,query){let parameters=new URLSearchParams(query).toString();
return`api/v1/${what}${parameters&&"?"+parameters}`}function measured(points){let lengths=[0];for(let i=1;i<points.length;i++)lengths.push(lengths[i-1]+Math.hypot(points[i][0]-points[i-1][0],points[i][1]-points[i-
1][1]));return{points,lengths,length:lengths[lengths.length-1]}}function along(arc,distance){let{points,lengths}=arc,i=1;for(;i<lengths.length-1&&lengths[i]<distance;)
i++;let share2=Math.max(0,Math.min(1,(distance-lengths[i-1])/Math.max(1e-9,lengths[i]-lengths[i-1]))),[ax,ay]=points[i-1],[bx,by]=points[i];return[ax+(bx-ax)*share2,
ay+(by-ay)*share2]}var travel=1100,most=240,fastest=10,Flow=class{constructor(){this.transitions=[],this.firings=[],this.last=0}draw(scene){let transitions=[];for(let node=scene?.
placeCount??0;scene&&node<scene.nodes.length;node++){let arcs=scene.arcsOf[node].map(a=>scene.arcs[a]).filter(a=>a.kind==="normal");transitions.push({row:node-(scene?.
placeCount??0),ins:arcs.filter(a=>a.to===node),outs:arcs.filter(a=>a.from===node)})}this.take(transitions)}take(transitions){this.firings=[],this.transitions=transitions.
map(t=>({...t,rate:0,worth:1,due:t.row*.618%1}))}measure(frame,times=1){for(let bound=fastest;bound>fastest/1e3;bound/=10){let dots=0;if(this.transitions.forEach(
t=>{t.rate=Math.max(0,frame?.transitions[t.row]?.rate??0)*times,t.worth=10**Math.max(0,Math.ceil(Math.log10(t.rate/bound))),dots+=t.rate/t.worth*Math.max(t.ins.
length,t.outs.length)*travel/1e3}),dots<=most*.8)return}}get worths(){return[...new Set(this.transitions.filter(t=>t.rate>0).map(t=>t.worth))].sort((a,b)=>a-b)}get busy(){
return this.firings.length>0||this.transitions.some(t=>t.rate>0)}step(time){let seconds=Math.min(.25,Math.max(0,(time-this.last)/1e3));this.last=time,this.firings=
this.firings.filter(f=>time-f.begun<travel),this.transitions.forEach((t,i)=>{for(t.due+=t.rate/t.worth*seconds;t.due>=1;t.due--)this.firings.length<most&&this.firings.
push({transition:i,worth:t.worth,begun:time-Math.min(seconds*1e3,(t.due-1)*1e3*t.worth/t.rate)})})}dots(time,grown,seen2,dot2){let left=most;for(let f of this.firings){
let share2=(time-f.begun)/travel,t=this.transitions[f.transition],[arcs,part2]=share2<.5?[t.ins,share2*2]:[t.outs,share2*2-1];for(let arc of arcs){if(!seen2(arc))
continue;if(left--<=0)return;let begin=grown(arc.from),[x,y]=along(arc,begin+Math.max(0,arc.length-begin-grown(arc.to))*part2*part2*(3-2*part2));dot2(x,y,f.worth)}}}};function middle({waypoints}){let best={x:waypoints[0].x,y:waypoints[0].y},longest=-1;for(let i=1;i<waypoints.length;i++){let[a,b]=[waypoints[i-1],waypoints[i]],
length=Math.hypot(b.x-a.x,b.y-a.y);length>longest&&([longest,best]=[length,{x:(a.x+b.x)/2,y:(a.y+b.y)/2}])}return best}function centre(shape){return shape.waypoints?
middle(shape):{x:shape.x+shape.width/2,y:shape.y+shape.height/2}}function beside(from,all,dx,dy){let a=centre(from),connected=new Set([...(from.outgoing??[]).flatMap(
f=>[f,f.target]),...(from.incoming??[]).flatMap(f=>[f,f.source]),from.source,from.target]),best=null,least=1/0;for(let shape of all){if(shape===from)continue;let b=centre(
shape),distance=Math.hypot(b.x-a.x,b.y-a.y),cosine=distance?((b.x-a.x)*dx+(b.y-a.y)*dy)/distance:-1;if(cosine<(connected.has(shape)?.25:.6))continue;let cost=distance/
(cosine*cosine)/(connected.has(shape)?4:1);cost<least&&([least,best]=[cost,shape])}return best}function reached(definitions,call){let look=scope=>{for(let e of scope.
flowElements??[]){if(e.id===call)return e.calledElement?.replace(/^.*:/,"");let inside=look(e);if(inside!==void 0)return inside}};return definitions.rootElements.
map(look).find(id=>id!==void 0)}function called(files,file,call){let id=reached(files[file],call);for(let i of id?[file,...files.keys()]:[]){let process=files[i].
rootElements.find(r=>r.id===id&&r.flowElements?.length);if(process)return{file:i,process}}}function diagramOf(definitions,process,otherwise){let shows=e=>e&&(e.
id===process||(e.participants??[]).some(p=>p.processRef?.id===process));return definitions.diagrams.find(d=>shows(d.plane?.bpmnElement))??otherwise}function halves(flow){
let points=flow.waypoints.map(({x,y})=>[x,y]),cut=1,longest=-1;for(let i=1;i<points.length;i++){let length=Math.hypot(points[i][0]-points[i-1][0],points[i][1]-points[i-
1][1]);length>longest&&([longest,cut]=[length,i])}let at2=middle(flow);return[measured([...points.slice(0,cut),[at2.x,at2.y]]),measured([[at2.x,at2.y],...points.
slice(cut)])]}var Camera=class{constructor(){this.x=0,this.y=0,this.scale=1,this.fitScale=1,this.touched=!1}toWorld(x,y){return[(x-this.x)/this.scale,(y-this.y)/this.scale]}pan(dx,dy){
this.x+=dx,this.y+=dy,this.touched=!0}shift(dx,dy){this.x+=dx,this.y+=dy}zoom(factor,x,y){let scale=Math.max(Math.min(.4,this.fitScale*.5),Math.min(4,this.scale*
factor)),[wx,wy]=this.toWorld(x,y);this.scale=scale,this.x=x-wx*scale,this.y=y-wy*scale,this.touched=!0}fit(box,width3,height3,foot=0){let margin4=Math.min(48,width3/
14);height3-=Math.max(0,foot-margin4);let w=box.right-box.left,h=box.bottom-box.top;this.scale=Math.min(1.2,(width3-2*margin4)/Math.max(1,w),(height3-2*margin4)/
Math.max(1,h)),this.fitScale=this.scale,this.x=width3/2-(box.left+box.right)/2*this.scale,this.y=height3/2-(box.top+box.bottom)/2*this.scale,this.touched=!1}center(wx,wy,width3,height3,scale=.85){
this.scale=Math.max(this.scale,scale),this.x=width3/2-wx*this.scale,this.y=height3/2-wy*this.scale,this.touched=!0}to(wx,wy,width3,height3,scale){this.zoom(scale/
this.scale,0,0),this.x=width3/2-wx*this.scale,this.y=height3/2-wy*this.scale}reveal(wx,wy,width3,height3){let sx=wx*this.scale+this.x,sy=wy*this.scale+this.y,margin4=Math.
min(80,width3/5),dx=Math.max(0,margin4-sx)-Math.max(0,sx-(width3-margin4)),dy=Math.max(0,margin4-sy)-Math.max(0,sy-(height3-margin4));(dx||dy)&&this.pan(dx,dy)}};function sight(model2,alarmed){let{scene,where}=model2,marks3=new Uint8Array(scene?.nodes.length??0);if(!scene)return marks3;where.quiet&&markQuiet(model2,scene,
alarmed,marks3);let center=centerOf(model2);if(center>=0){let near2=around2(scene,center,where.steps);for(let i=0;i<marks3.length;i++)near2.has(i)||(marks3[i]=2);
marks3[center]=0}return marks3}function centerOf({scene,where}){let[kind,...id]=where.around.split(" ");return where.around&&scene?scene.find(kind,id.join(" ")):
-1}function around2(scene,center,steps){let near2=new Set([center]),edge=[center];for(let k=0;k<steps;k++){let next=[];for(let node of edge)for(let a of scene.arcsOf[node]){
let other=scene.arcs[a].from===node?scene.arcs[a].to:scene.arcs[a].from;near2.has(other)||(near2.add(other),next.push(other))}edge=next}return near2}function markQuiet(model2,scene,alarmed,marks3){
let frame=model2.shown;if(!frame)return;let selected=model2.selected(),traced=new Set(model2.traced);scene.nodes.forEach((node,i)=>{if(i===selected||alarmed.has(
i))return;if(i<scene.placeCount){frame.places[i]?.tokens===0&&!traced.has(node.id)&&(marks3[i]=1);return}let t=frame.transitions[i-scene.placeCount];t?.rate===0&&
!t.enabled&&!t.running&&!t.blocked&&(marks3[i]=1)})}var aside=1e6;function arranged(whole,part2){let key4=n=>`${n.kind} ${n.id}`,placed=new Map(part2.nodes.map(
n=>[key4(n),n])),name2=(d,a)=>JSON.stringify([key4(d.nodes[a.from]),key4(d.nodes[a.to]),a.kind]),ways2=new Map;for(let a of part2.arcs)ways2.set(name2(part2,a),
[...ways2.get(name2(part2,a))??[],a]);return{...whole,nodes:whole.nodes.map(n=>({...n,...placed.get(key4(n))??{x:n.x-aside}})),arcs:whole.arcs.map(a=>({...a,points:ways2.
get(name2(whole,a))?.shift()?.points??a.points}))}}function boxOf(scene,marks3){let box={left:1/0,top:1/0,right:-1/0,bottom:-1/0};return scene.nodes.forEach((n,i)=>{
marks3[i]!==2&&(box.left=Math.min(box.left,n.x-n.w/2-40),box.right=Math.max(box.right,n.x+n.w/2+40),box.top=Math.min(box.top,n.y-n.h/2-20),box.bottom=Math.max(box.
bottom,n.y+n.h/2+40))}),box.right>box.left?box:scene.box}var font='system-ui, -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif',fontOf=(weight,size3)=>`${weight} ${size3}px ${font}`,detail={shapes:.12,
marks:.24,ages:.5,labels:.7,arrows:.22,names:.12},ArcPainter=class{constructor(ctx,palette){this.ctx=ctx,this.palette=palette,this.scale=1,this.x=0,this.y=0,this.
width=0,this.height=0}links({nodes},marks3,links2){let{ctx,scale,x,y}=this;ctx.strokeStyle=this.palette.arc,ctx.lineWidth=.8,ctx.setLineDash([2,4]),ctx.beginPath();
for(let arc of links2){if(!this.#passes(arc.box))continue;let from=nodes[arc.from],to=nodes[arc.to],way=[...arc.points];marks3[arc.from]===1&&way.unshift([from.
x,from.y]),marks3[arc.to]===1&&way.push([to.x,to.y]),way.forEach(([px,py],i)=>i?ctx.lineTo(px*scale+x,py*scale+y):ctx.moveTo(px*scale+x,py*scale+y))}ctx.stroke(),
ctx.setLineDash([])}#passes(box){let{scale,x,y}=this;return box.right*scale+x>-20&&box.left*scale+x<this.width+20&&box.bottom*scale+y>-20&&box.top*scale+y<this.
height+20}arcs(scene,arcs,colour,thick){let{ctx,scale}=this;arcs=arcs.filter(a=>this.#passes(a.box)),ctx.strokeStyle=ctx.fillStyle=colour,ctx.lineWidth=Math.max(
.6,Math.min(thick,thick*scale*1.4));for(let read2 of[!1,!0]){ctx.setLineDash(read2?[4,4]:[]),ctx.beginPath();for(let arc of arcs)arc.kind==="read"===read2&&this.#path(
scene,arc);ctx.stroke()}if(ctx.setLineDash([]),!(scale<detail.arrows)){for(let arc of arcs)this.#head(arc,colour,scene.grown(arc.to,scale)*scale);if(scale>=detail.
labels)for(let arc of arcs)arc.weight>1&&this.#weight(arc,colour)}}#path(scene,arc){let{ctx,scale,x,y}=this,last=arc.points.length-1,fine=scale>=detail.shapes;arc.
points.forEach((point,i)=>{let[px,py]=fine?i===0?along(arc,scene.grown(arc.from,scale)):i===last?along(arc,arc.length-scene.grown(arc.to,scale)):point:point;i?ctx.
lineTo(px*scale+x,py*scale+y):ctx.moveTo(px*scale+x,py*scale+y)})}#head(arc,colour,short2){if(arc.kind==="read")return;let{ctx,scale}=this,[bx,by]=arc.points[arc.
points.length-2],[ex,ey]=arc.points[arc.points.length-1],angle=Math.atan2(ey-by,ex-bx),sx=ex*scale+this.x-Math.cos(angle)*short2,sy=ey*scale+this.y-Math.sin(angle)*
short2;if(sx<-20||sy<-20||sx>this.width+20||sy>this.height+20)return;let size3=Math.max(4,Math.min(9,14*scale));if(arc.kind==="inhibitor"){ctx.beginPath(),ctx.arc(
sx-Math.cos(angle)*size3*.55,sy-Math.sin(angle)*size3*.55,size3*.55,0,2*Math.PI),ctx.fillStyle=this.palette.ground,ctx.fill(),ctx.stroke(),ctx.fillStyle=colour;
return}for(let back2 of arc.kind==="reset"?[0,size3]:[0]){let tx=sx-Math.cos(angle)*back2,ty=sy-Math.sin(angle)*back2;ctx.beginPath(),ctx.moveTo(tx,ty),ctx.lineTo(
tx-size3*Math.cos(angle-.42),ty-size3*Math.sin(angle-.42)),ctx.lineTo(tx-size3*Math.cos(angle+.42),ty-size3*Math.sin(angle+.42)),ctx.fill()}}#weight(arc,colour){
let[px,py]=along(arc,arc.length/2);this.pill(`×${count(arc.weight)}`,px*this.scale+this.x,py*this.scale+this.y,colour)}pill(text4,x,y,colour){let{ctx}=this;ctx.
font=`10.5px ${font}`;let w=ctx.measureText(text4).width+4;ctx.fillStyle=this.palette.ground,ctx.fillRect(x-w/2,y-6.5,w,13),ctx.fillStyle=colour,ctx.fillText(text4,
x,y+.5)}};var steady=.1;function placeChange(then2,now,passed,calm){let same4=!calm&&then2?.since&&then2.since===now?.since;return{then:then2?.tokens,now:now?.tokens,by:less(
now?.tokens,then2?.tokens),aged:same4?passed:0}}function brief({by}){return by?signed(by):""}function less(a,b){return a==null||b==null?null:a-b}function otherRate(then2,now){
return then2!=null&&now!=null&&Math.abs(then2-now)>steady*Math.max(then2,now)}function both(then2,now,say2=count){let by=less(now,then2);return say2(then2)===say2(
now)?say2(then2):`${say2(then2)} → ${say2(now)}${by===null?"":` (${signed(by,say2)})`}`}function about({alarm,net:net2,place:place3,transition:transition3,source:source2,
region}){return JSON.stringify([alarm,net2,place3,transition3,source2,region])}function alarmsOfBoth(then2,now){let before=new Set(then2.map(about)),after=new Set(
now.map(about));return[...then2.map(a=>({...a,changed:after.has(about(a))?"":"gone"})),...now.filter(a=>!before.has(about(a))).map(a=>({...a,changed:"new"}))]}function listOfBoth(then2,now,key4){
let before=new Set(then2.map(key4)),after=new Set(now.map(key4));return[...then2.map(x=>after.has(key4(x))?x:{...x,changed:"gone"}),...now.filter(x=>!before.has(
key4(x))).map(x=>({...x,changed:"new"}))]}var detail2={numbers:.24,ages:.5},size=11;function paintChanges(ctx,palette,model2,view){let{scene,shown:shown3,current}=model2;if(!scene||!shown3||!current||current.
drawing!==shown3.drawing)return;let passed=(model2.clock.now()-model2.at)/1e3;ctx.textAlign="center",ctx.textBaseline="middle",scene.nodes.forEach((node,i)=>{if(view.
marks[i])return;let x=node.x*view.scale+view.x,y=node.y*view.scale+view.y;if(i>=scene.placeCount)return rateChange(ctx,palette,shown3.transitions[i-scene.placeCount],
current.transitions[i-scene.placeCount],x,y+node.h/2*view.scale,view.scale);let change=placeChange(shown3.places[i],current.places[i],passed,node.calm),r=scene.
radius(i,view.scale);if(view.scale<detail2.numbers)return wedge(ctx,palette,change.by,x+r,y-r);let aged=change.aged&&view.scale>=detail2.ages?`same, +${shortAge(
change.aged)}`:"",text4=[brief(change),aged].filter(Boolean).join(" · ");text4&&tag(ctx,palette,text4,x+r*.85,y-r-4,"start")})}function wedge(ctx,palette,by,x,y){
if(!by)return;let up=by>0?1:-1;ctx.fillStyle=palette.past,ctx.beginPath(),ctx.moveTo(x,y-4*up),ctx.lineTo(x-4,y+3*up),ctx.lineTo(x+4,y+3*up),ctx.fill()}function rateChange(ctx,palette,then2,now,x,y,scale){
scale>=detail2.ages&&otherRate(then2?.rate,now?.rate)&&tag(ctx,palette,`→ ${rate(now?.rate)}`,x,y+(then2?.rate?23:9),"middle")}function tag(ctx,palette,text4,x,y,from){
ctx.font=fontOf(600,size);let w=ctx.measureText(text4).width+8,left=from==="start"?x-4:x-w/2;ctx.beginPath(),ctx.roundRect(left,y-7.5,w,15,4),ctx.fillStyle=palette.
pastSoft,ctx.fill(),ctx.lineWidth=1,ctx.strokeStyle=palette.past,ctx.stroke(),ctx.fillStyle=palette.past,ctx.fillText(text4,left+w/2,y+.5)}function gestures(element2,on){let pointers=new Map,moved=0,point=event=>{let box=element2.getBoundingClientRect();return{x:event.clientX-box.left,y:event.clientY-
box.top}};element2.addEventListener("pointerdown",event=>{event.button===0&&(element2.setPointerCapture(event.pointerId),pointers.set(event.pointerId,point(event)),
pointers.size===1&&(moved=0))}),element2.addEventListener("pointermove",event=>{let at2=point(event),before=pointers.get(event.pointerId);if(!before){pointers.size===
0&&on.hover(at2.x,at2.y);return}let old=[...pointers.values()];pointers.set(event.pointerId,at2),moved+=Math.hypot(at2.x-before.x,at2.y-before.y),moved>5&&spread2(
old,[...pointers.values()],on)});for(let end of["pointerup","pointercancel"])element2.addEventListener(end,event=>{if(!pointers.delete(event.pointerId)||end==="\
pointercancel")return;let at2=point(event);moved<=5&&pointers.size===0&&on.click(at2.x,at2.y)});element2.addEventListener("pointerleave",()=>pointers.size===0&&
on.leave()),element2.addEventListener("wheel",event=>{event.preventDefault();let at2=point(event),lines=event.deltaMode===WheelEvent.DOM_DELTA_LINE?16:1;on.zoom(
Math.exp(-Math.max(-240,Math.min(240,event.deltaY*lines))*(event.ctrlKey?.008:.0016)),at2.x,at2.y)},{passive:!1})}function spread2(before,after,on){let n=Math.min(
2,after.length),middle2=p=>({x:p.slice(0,n).reduce((a2,b2)=>a2+b2.x,0)/n,y:p.slice(0,n).reduce((a2,b2)=>a2+b2.y,0)/n}),a=middle2(before),b=middle2(after);if(on.
pan(b.x-a.x,b.y-a.y),n<2)return;let width3=p=>Math.hypot(p[0].x-p[1].x,p[0].y-p[1].y);width3(before)>0&&on.zoom(width3(after)/width3(before),b.x,b.y)}var size2=10.5,line2=12,perCharacter=5.9,cell=40,rings=[20,34,50,70,95,125,160,200,250,320,400],directions=24,overhang=16,dot=3.6,numbered=7,smallFont=size2,smallLine=line2,
below=3*line2,Labels=class{constructor(scene){this.scene=scene,this.written=[],this.nodes={key:"",taken:new Taken},this.key="",this.texts=new Taken,this.ages=new Map}age(place3,scale,radius,labelled,sight2){
let nodes=this.#nodes(scale,radius,labelled,sight2);labelled&&this.#begin(this.nodes.key);let found=this.ages.get(place3);if(found!==void 0)return found;let n=this.
scene.nodes[place3],r=radius(place3)+7,at2=[[0,-r-7],[r+12,-r],[-r-12,-r],[r+15,0],[-r-15,0]].map(([dx,dy])=>({x:n.x*scale+dx,y:n.y*scale+dy})).find(p=>nodes.free(
ageBox(p))&&this.texts.free(ageBox(p)))??null;return at2&&this.texts.add(ageBox(at2)),this.ages.set(place3,at2),at2}#begin(key4){return key4===this.key?!1:(Object.
assign(this,{key:key4,texts:new Taken,ages:new Map,written:[]}),!0)}#nodes(scale,radius,labelled,{marks:marks3,version:version2,only}){let key4=[scale.toFixed(4),
labelled,only,version2].join();if(this.nodes.key===key4)return this.nodes.taken;let taken=new Taken;this.nodes={key:key4,taken};let{nodes,placeCount,labels}=this.
scene;return nodes.forEach((n,i)=>{if(marks3[i])return;let least=i<placeCount?Math.max(radius(i),only?dot:0):1.5,w=Math.max(n.w*scale/2,least),h=Math.max(n.h*scale/
2,least);if(taken.add({left:n.x*scale-w,right:n.x*scale+w,top:n.y*scale-h,bottom:n.y*scale+h}),!labelled||i>=placeCount)return;let half=Math.max(...labels[i].map(
l=>l.length))*perCharacter*scale*1.15/2;taken.add({left:n.x*scale-half,right:n.x*scale+half,top:n.y*scale+h,bottom:n.y*scale+h+(8+14*labels[i].length)*scale})}),
taken}lay(scale,radius,first,sight2){let nodes=this.#nodes(scale,radius,!1,sight2);if(!this.#begin([this.nodes.key,...first].join()))return this.written;let{placeCount}=this.
scene;for(let i of first)this.age(i,scale,radius,!1,sight2);let early=new Set(first);for(let i of first)this.#write(i,scale,radius(i),nodes,!0);for(let i=0;i<placeCount&&
!sight2.only;i++)!sight2.marks[i]&&!early.has(i)&&this.#write(i,scale,radius(i),nodes,!1);return this.written}#write(i,scale,r,nodes,first){let n=this.scene.nodes[i],
lines=twoLines(label(n),14),half=Math.max(...lines.map(l=>l.length))*perCharacter/2,count2=lines.length+Number(first&&r<numbered),high=(count2-1)*line2,[x,y]=[n.
x*scale,n.y*scale],box=p=>({left:p.x-half,right:p.x+half,top:p.y-line2/2+1,bottom:p.y+(count2-.5)*line2}),free=p=>nodes.free(box(p))&&this.texts.free(box(p)),under={
x,y:y+r+7+line2/2},beside3=[{x,y:y-r-9-high-line2/2},{x:x+r+6+half,y:y-high/2},{x:x-r-6-half,y:y-high/2}],{left,right,bottom}=this.scene.box,above=p=>box(p).bottom<
bottom*scale+below&&free(p),near2=(first?[under,...beside3]:[under]).find(above),at2=near2??(first?farther(x,y,half,high,p=>p.x-half>left*scale-overhang&&p.x+half<
right*scale+overhang&&above(p))??farther(x,y,half,high,above):null);if(!at2)return;this.texts.add(box(at2));let share2=(r+5)/Math.hypot(at2.x-x,at2.y-y);this.written.
push({node:i,lines,...at2,...near2?{}:{from:[x+(at2.x-x)*share2,y+(at2.y-y)*share2]}})}};function farther(x,y,half,high,free){for(let r of rings)for(let k=0;k<directions;k++){
let angle=(k+5)*2*Math.PI/directions,p={x:x+Math.cos(angle)*(r+Math.min(half,r)),y:y+Math.sin(angle)*r-high/2};if(free(p))return p}return null}function ageBox({
x,y}){return{left:x-14,right:x+14,top:y-6.5,bottom:y+6.5}}var Taken=class{constructor(){this.cells=new Map}add(box){for(let x=Math.floor(box.left/cell);x<=Math.
floor(box.right/cell);x++)for(let y=Math.floor(box.top/cell);y<=Math.floor(box.bottom/cell);y++){let boxes=this.cells.get(x*1e6+y);boxes?boxes.push(box):this.cells.
set(x*1e6+y,[box])}}free(box){for(let x=Math.floor(box.left/cell);x<=Math.floor(box.right/cell);x++)for(let y=Math.floor(box.top/cell);y<=Math.floor(box.bottom/
cell);y++)for(let b of this.cells.get(x*1e6+y)??[])if(b.left<box.right&&box.left<b.right&&b.top<box.bottom&&box.top<b.bottom)return!1;return!0}};var marks=Object.freeze([[1,"1s"],[10,"10s"],[60,"1m"],[600,"10m"],[3600,"1h"]]),hottest=Math.log10(3600),levels=48,ramps=Object.freeze({light:["#dce8f4","#ffe3\
a3","#ffb35c","#ea6a4a","#ad2a6c","#4c0f5e"],dark:["#24364f","#4a3f8c","#97438f","#dd5f5f","#fca34a","#fff0a8"]});function heat(age3){return!age3||age3<=1?0:Math.
min(1,Math.log10(age3)/hottest)}function channels(hex){return[1,3,5].map(i=>parseInt(hex.slice(i,i+2),16))}var HeatScale=class _HeatScale{constructor(theme2){let ramp=ramps[theme2].
map(channels);this.fills=[],this.inks=[];for(let i=0;i<=levels;i++){let at2=i/levels*(ramp.length-1),k=Math.min(ramp.length-2,Math.floor(at2)),rgb=ramp[k].map((c,j)=>Math.
round(c+(ramp[k+1][j]-c)*(at2-k)));this.fills.push(`rgb(${rgb.join(", ")})`),this.inks.push(.299*rgb[0]+.587*rgb[1]+.114*rgb[2]>138?"#10141b":"#f5f7fa")}}cold(){
let scale=Object.assign(Object.create(_HeatScale.prototype),this);return scale.fills=this.fills.map(()=>this.fills[0]),scale.inks=this.inks.map(()=>this.inks[0]),
scale}fill(h){return this.fills[Math.round(h*levels)]}ink(h){return this.inks[Math.round(h*levels)]}};var fontSize=12,lineHeight=14,labelGap=8,alwaysNamed=6,alarmsNamed=60,Painter=class extends ArcPainter{paint(scene,frame,view){Object.assign(this,{scale:view.scale,
x:view.x,y:view.y,width:view.width,height:view.height});let{ctx}=this;ctx.fillStyle=this.palette.ground,ctx.fillRect(0,0,view.width,view.height),ctx.lineCap="ro\
und",ctx.lineJoin="round",ctx.textAlign="center",ctx.textBaseline="middle";let{marks:marks3}=view,drawn=scene.arcs.filter(a=>marks3[a.from]!==2&&marks3[a.to]!==
2),links2=drawn.filter(a=>marks3[a.from]===1||marks3[a.to]===1);this.arcs(scene,links2.length?drawn.filter(a=>!marks3[a.from]&&!marks3[a.to]):drawn,this.palette.
arc,1.25),this.links(scene,marks3,links2);let old=frame?.byAge(scene.nodes).filter(i=>!marks3[i]).slice(0,alwaysNamed).filter(i=>(frame.oldestAge(i,view.now)??0)>=
60)??[],named2=new Set([...[...view.alarmed].filter(i=>i<scene.placeCount&&!marks3[i]).slice(0,alarmsNamed),...old]);this.scale<detail.shapes&&this.#dots(scene,
frame,view),scene.nodes.forEach((node,i)=>{marks3[i]||!this.#seen(node)||this.scale<detail.shapes&&!named2.has(i)&&!view.alarmed.has(i)||(i<scene.placeCount?this.#place(
node,scene.radius(i,this.scale),i,frame,view):this.#transition(node,i,i-scene.placeCount,frame,view))});let sight2={marks:marks3,version:view.version,only:this.
scale<detail.names};this.scale>=detail.labels?this.#labels(scene,view.alarmed,marks3):this.#names(scene,[...named2],frame,view.now,sight2),frame&&this.#ages(scene,
frame,view.now,named2,sight2)}#dots(scene,frame,{now,marks:marks3}){let{ctx,palette,scale,x,y}=this,dots=new Map,bars=new Map([[palette.line,[]],[palette.dot,[]]]);
scene.nodes.forEach((node,i)=>{if(marks3[i]||!this.#seen(node))return;let sx=node.x*scale+x,sy=node.y*scale+y;if(i>=scene.placeCount){let w=Math.max(1.5,node.w*
scale),h2=Math.max(1.5,node.h*scale);bars.get(frame?.transitions[i-scene.placeCount]?.rate?palette.dot:palette.line)?.push([sx-w/2,sy-h2/2,w,h2]);return}let tokens=frame?.
places[i]?.tokens,h=node.calm||!frame||!tokens?0:heat(frame.oldestAge(i,now)),fill2=tokens?palette.heat.fill(h):palette.arc,r=scene.radius(i,scale),dot2=[sx,sy,
tokens?Math.max(1.6+2*h,r):Math.max(.8,r/2)],same4=dots.get(fill2);same4?same4.push(dot2):dots.set(fill2,[dot2])}),ctx.globalAlpha=.45;for(let[fill2,all]of bars){
ctx.fillStyle=fill2,ctx.beginPath();for(let bar of all)ctx.rect(...bar);ctx.fill()}ctx.globalAlpha=1;for(let[fill2,all]of dots){ctx.fillStyle=fill2,ctx.beginPath();
for(let[sx,sy,r]of all)ctx.moveTo(sx+r,sy),ctx.arc(sx,sy,r,0,2*Math.PI);ctx.fill()}}#seen(node){let sx=node.x*this.scale+this.x,sy=node.y*this.scale+this.y,room=60+
(node.w+node.h)*this.scale;return sx>-room&&sy>-room&&sx<this.width+room&&sy<this.height+room}ring(scene,node,colour,thick,dash,room=6){let{ctx,scale}=this,n=scene.
nodes[node],[x,y,w,h]=[n.x*scale+this.x,n.y*scale+this.y,n.w*scale,n.h*scale];ctx.setLineDash(dash),ctx.lineWidth=thick,ctx.strokeStyle=colour,ctx.beginPath(),n.
kind==="place"?ctx.arc(x,y,scene.radius(node,scale)+room,0,2*Math.PI):ctx.roundRect(x-w/2-room,y-h/2-room,w+2*room,h+2*room,7),ctx.stroke(),ctx.setLineDash([])}#place(node,r,row2,frame,view){
let{ctx,palette}=this,sx=node.x*this.scale+this.x,sy=node.y*this.scale+this.y,tokens=frame?.places[row2]?.tokens,age3=frame?frame.oldestAge(row2,view.now):null,
h=node.calm?0:heat(age3);if(h>.5&&this.#glow(sx,sy,r,h),ctx.beginPath(),ctx.arc(sx,sy,r,0,2*Math.PI),ctx.fillStyle=tokens?node.calm?palette.finished:palette.heat.
fill(h):palette.empty,ctx.fill(),this.#outline(row2,view),h>0&&r>6&&this.#gauge(sx,sy,r,h),r>=numbered&&tokens!==0){let text4=tokens==null?"–":count(tokens);ctx.
font=`600 ${Math.min(Math.max(15,r*.6),r*(text4.length>3?.66:.95)).toFixed(1)}px ${font}`,ctx.fillStyle=tokens?node.calm?palette.ink:palette.heat.ink(h):palette.
quiet,ctx.fillText(text4,sx,sy+.5)}}#ages(scene,frame,now,named2,sight2){for(let i of this.scale>=detail.ages?Array(scene.placeCount).keys():named2){let age3=this.
scale<detail.labels&&scene.radius(i,this.scale)<numbered||scene.nodes[i].calm||sight2.marks[i]||!this.#seen(scene.nodes[i])?0:frame.oldestAge(i,now),at2=age3&&age3>=
10&&scene.names.age(i,this.scale,p=>scene.radius(p,this.scale),this.scale>=detail.labels,sight2);at2&&this.pill(shortAge(age3),at2.x+this.x,at2.y+this.y,this.palette.
ink)}}#glow(x,y,r,h){let{ctx}=this;ctx.fillStyle=this.palette.heat.fill(h);for(let[reach,alpha]of[[1.75,.08],[1.45,.13]])ctx.globalAlpha=alpha*(.5+h),ctx.beginPath(),
ctx.arc(x,y,Math.max(r*reach,r+3),0,2*Math.PI),ctx.fill();ctx.globalAlpha=1}#gauge(x,y,r,h){let{ctx}=this;ctx.beginPath(),ctx.arc(x,y,r+3,-Math.PI/2,-Math.PI/2+
h*2*Math.PI),ctx.lineWidth=Math.max(1.5,Math.min(3,r/7)),ctx.strokeStyle=this.palette.heat.fill(h),ctx.stroke()}#outline(i,{alarmed,doubted:doubted2}){let{ctx,palette}=this;
ctx.lineWidth=alarmed.has(i)?2.5:1.25,ctx.strokeStyle=alarmed.has(i)&&!doubted2.has(i)?palette.bad:alarmed.has(i)?palette.warn:palette.line,ctx.setLineDash(doubted2.
has(i)?[5,4]:[]),ctx.stroke(),ctx.setLineDash([])}#transition(node,i,row2,frame,view){let{ctx,palette}=this,sx=node.x*this.scale+this.x,sy=node.y*this.scale+this.
y,w=Math.max(3,node.w*this.scale),h=Math.max(3,node.h*this.scale),{rate:perSecond,running,blocked:blocked2}=frame?.transitions[row2]??{};if(ctx.beginPath(),ctx.
roundRect(sx-w/2,sy-h/2,w,h,Math.min(4,w/4)),ctx.fillStyle=perSecond?palette.barLive:palette.bar,ctx.fill(),this.#outline(i,view),blocked2&&this.scale>=detail.marks&&
this.#blocked(sx+w/2,sy-h/2,running?palette.quiet:palette.bad),this.scale<detail.ages||!frame)return;let text4=perSecond==null?"–":perSecond>0?rate(perSecond):
"";text4&&this.pill(text4,sx,sy+h/2+9,perSecond?palette.accent:palette.quiet)}#blocked(x,y,colour){let{ctx}=this,r=Math.max(3,Math.min(5.5,7*this.scale));ctx.beginPath(),
ctx.arc(x,y,r,0,2*Math.PI),ctx.fillStyle=this.palette.ground,ctx.fill(),ctx.strokeStyle=colour,ctx.lineWidth=1.5,ctx.stroke(),ctx.beginPath(),ctx.moveTo(x-r*.5,
y),ctx.lineTo(x+r*.5,y),ctx.stroke()}#names(scene,first,frame,now,sight2){let{ctx,scale,palette}=this;ctx.font=`${smallFont}px ${font}`;let written2=scene.names.
lay(scale,i=>scene.radius(i,scale),first,sight2);ctx.lineWidth=.8,ctx.strokeStyle=palette.quiet,ctx.beginPath();for(let{node,lines,x,y,from}of written2)!from||!this.#seen(
scene.nodes[node])||(ctx.moveTo(from[0]+this.x,from[1]+this.y),ctx.lineTo(x+this.x,y+this.y+(lines.length-1)/2*smallLine));ctx.stroke();for(let{node,lines,x,y}of[
...written2].reverse()){if(!this.#seen(scene.nodes[node]))continue;let numbers=frame&&first.includes(node)&&scene.radius(node,scale)<numbered?[[count(frame.places[node]?.
tokens),!scene.nodes[node].calm&&shortAge(frame.oldestAge(node,now))].filter(Boolean).join(", ")]:[];[...lines,...numbers].forEach((text4,k)=>{ctx.lineWidth=3,ctx.
strokeStyle=palette.ground,ctx.strokeText(text4,x+this.x,y+this.y+k*smallLine),ctx.fillStyle=palette.ink,ctx.fillText(text4,x+this.x,y+this.y+k*smallLine)})}}#labels(scene,alarmed,marks3){
let{ctx,palette,scale}=this,line3=lineHeight*scale;ctx.font=`${(fontSize*scale).toFixed(2)}px ${font}`,ctx.fillStyle=palette.ink,ctx.strokeStyle=palette.ground,
ctx.lineWidth=4;for(let i of[...scene.nodes.keys()].filter(n=>!alarmed.has(n)).concat(...alarmed)){let node=scene.nodes[i];if(marks3[i]||!this.#seen(node))continue;
let lines=scene.labels[i],sx=node.x*scale+this.x,sy=node.y*scale+this.y,first=i<scene.placeCount?sy+(node.h/2+labelGap)*scale+line3/2:sy-(lines.length-1)/2*line3;
lines.forEach((text4,k)=>{i<scene.placeCount&&ctx.strokeText(text4,sx,first+k*line3),ctx.fillText(text4,sx,first+k*line3)})}}};var Palette=class{constructor(theme2){let style=getComputedStyle(document.documentElement),of=token=>style.getPropertyValue("--"+token).trim();this.ground=of("g\
round"),this.ink=of("ink"),this.quiet=of("quiet"),this.arc=of("arc"),this.line=of("node-line"),this.empty=of("node-empty"),this.bar=of("bar"),this.barLive=of("b\
ar-live"),this.dot=of("dot"),this.accent=of("accent"),this.bad=of("bad"),this.warn=of("warn"),this.past=of("past"),this.pastSoft=of("past-soft"),this.finished=of(
"track"),this.heat=new HeatScale(theme2)}};var severities=new Map([["critical","bad"],["major","bad"],["minor","warn"],["warning","warn"]]),kinds=new Map(Object.entries({tokenStuck:["stuck place","stuck \
places"],transitionStarved:["starved transition","starved transitions"],netDeadlocked:["deadlocked net","deadlocked nets"],failureRatio:["failing transition","f\
ailing transitions"],transitionLoop:["looping transition","looping transitions"],regionStopped:["stopped region","stopped regions"],sourceLost:["silent source",
"silent sources"],sourceConflict:["source name used twice","source names used twice"],sourceRefused:["refused source","refused sources"],natsDisconnected:["lost\
 connection to NATS","lost connections to NATS"]}));function kindName(kind,n=1){return kinds.get(kind)?.[n===1?0:1]??kind}var grades2=Object.freeze([...severities.
keys()]);function mark(severity){let kind=severities.get(severity)??"bad";return[kind==="bad"?"▲":"△",kind]}function signOf({severity,unknown:unknown2}){return unknown2?
["?","warn",`unknown, ${severity}`]:[...mark(severity),severity]}function causes(n){return n.alarms-(n.alarms_unknown??0)-(n.alarms_following??0)}function tally(n){
let{alarms_unknown:doubts,alarms_following:following}=n;return[plural(causes(n),"alarm"),doubts&&`${doubts} unknown`,following&&`${following} following from a l\
ost source`].filter(Boolean).join(", ")}function urgency(net2){let not=x=>x?1:0,grade=a=>grades2.indexOf(a.severity);return(a,b)=>not(a.silenced_until)-not(b.silenced_until)||
not(a.follows)-not(b.follows)||not(a.unknown)-not(b.unknown)||grade(a)-grade(b)||not(a.acknowledged)-not(b.acknowledged)||not(a.net!==net2)-not(b.net!==net2)||Date.
parse(a.since)-Date.parse(b.since)||a.index-b.index}var about2=a=>a.place??a.transition??a.source??a.region??"";function subject(a){return a.name||about2(a)||a.
net_name||a.net||"this sidecar"}var facts={tokenStuck:a=>`${plural(a.affected,"token")} for more than ${span(a.after_seconds)}`,transitionStarved:a=>`${plural(a.
affected,"instance")} for more than ${span(a.after_seconds)} without a firing`,netDeadlocked:a=>`${plural(a.affected,"instance")} deadlocked`,failureRatio:a=>`${count(
a.affected)} of ${count(a.runs)} runs failed in ${span(a.window_seconds)}`,transitionLoop:a=>`${rate(a.rate)} over ${span(a.window_seconds)}, more than ${rate(a.
above)}`,sourceLost:a=>`${plural(a.affected,"net")} without messages`,sourceConflict:a=>`${plural(a.affected,"net")} from two processes with this name`,sourceRefused:a=>`${plural(
a.affected,"net")} whose messages are refused`,regionStopped:()=>"stopped",natsDisconnected:()=>"no connection to NATS"};function words(a){let now=facts[a.alarm]?.(
a)??kindName(a.alarm);return a.unknown?`${now}, when it was last known`:a.outdated?`${now}, at an earlier moment`:now}var ahead=.25,dotPause=30,dear=16,rest=120,patience2=2e3,stretch=[.55,2.5],flashing=1400,legible=.28,Stage=class{constructor(model2,canvas2,theme2){this.model=model2,
this.canvas=canvas2,this.others=[],this.theme=theme2,this.ctx=canvas2.getContext("2d",{alpha:!1}),this.layer=document.createElement("canvas"),this.painter=new Painter(
this.layer.getContext("2d",{alpha:!1}),new Palette(theme2.now)),this.painted={x:0,y:0,scale:0,cost:0,at:0},this.camera=new Camera,this.flow=new Flow,this.calm=matchMedia(
"(prefers-reduced-motion: reduce)"),this.width=this.height=this.ratio=0,this.hovered=this.cursor=-1,this.marks=new Uint8Array(0),this.version=0,this.around="",this.
flash={node:-1,until:0},this.hash="",this.stale=!0,this.movedAt=-1/0,this.asked=0,this.lastDots=0,this.#listen()}#listen(){let{model:model2}=this;model2.on("dra\
wing",()=>this.#drawing()),model2.on("frame",()=>this.#frame()),model2.on("overview link",()=>{this.#sight(),this.repaint()}),model2.on("address",()=>this.#moved()),
this.theme.addEventListener("change",()=>{this.painter.palette=new Palette(this.theme.now),this.repaint()}),this.calm.addEventListener("change",()=>this.#ask()),
new ResizeObserver(()=>this.#resize()).observe(this.canvas.parentElement),setInterval(()=>(!model2.at||model2.comparing)&&model2.current?.places.some(p=>p.since)&&
this.repaint(),1e3),gestures(this.canvas,{pan:(dx,dy)=>this.#look(()=>this.camera.pan(dx,dy)),zoom:(factor,x,y)=>this.#look(()=>this.camera.zoom(factor,x,y)),click:(x,y)=>this.#click(
x,y),hover:(x,y)=>this.#hover(this.nodeAt(x,y)),leave:()=>this.#hover(-1)})}nodeAt(x,y){return this.model.scene?.at(...this.camera.toWorld(x,y),8/this.camera.scale,
this.seen)??-1}seen=node=>this.marks[node]===0;where(node){let n=this.model.scene.nodes[node],{scale,x,y}=this.camera;return{x:n.x*scale+x,y:n.y*scale+y,w:n.w*scale,
h:n.h*scale}}zoom(factor){this.#look(()=>this.camera.zoom(factor,this.width/2,this.height/2))}fit(){let{scene,where}=this.model,legend2=document.getElementById(
"legend"),foot=legend2?.offsetHeight?this.height-legend2.offsetTop+below:0;scene&&this.#look(()=>this.camera.fit(where.around?boxOf(scene,this.marks):scene.box,
this.width,this.height,foot))}lookAt(x,y,scale=this.camera.scale){this.#look(()=>this.camera.to(x,y,this.width,this.height,scale))}jump(node){let n=this.model.scene?.
nodes[node];n&&(this.model.where.around&&!this.seen(node)&&this.model.address.go({around:""}),this.cursor=node,this.flash={node,until:performance.now()+flashing},
this.canvas.dataset.flash=n.id,setTimeout(()=>this.repaint(),flashing+50),this.#look(()=>this.camera.center(n.x,n.y,this.width,this.height)))}point(node){let n=this.
model.scene?.nodes[node];n&&(this.cursor=node,this.camera.scale<legible?this.#look(()=>this.camera.center(n.x,n.y,this.width,this.height)):this.#look(()=>this.camera.
reveal(n.x,n.y,this.width,this.height)),this.model.dispatchEvent(new Event("hover")))}focus(){this.canvas.focus()}step(dx,dy){let{model:model2}=this;if(!model2.
scene)return"";let next=this.cursor<0?Math.max(0,model2.selected(),model2.hottest()):model2.scene.towards(this.cursor,dx,dy,this.seen);return next<0?"":(this.point(
next),describe(model2,next))}open(){let node=this.model.scene?.nodes[this.cursor];node&&this.model.select(node.kind,node.id)}repaint(){this.stale=!0,this.#ask()}#look(move){
move(),this.movedAt=performance.now();let{x,y,scale}=this.camera;this.canvas.dataset.camera=`${x.toFixed(1)} ${y.toFixed(1)} ${scale.toFixed(4)}`,this.model.dispatchEvent(
new Event("hover")),this.#ask()}#drawing(){this.hovered=-1;let hash2=this.model.scene?.hash??"";hash2!==this.hash&&(this.cursor=-1),this.hash=hash2,this.flow.draw(
this.model.scene),this.canvas.dataset.drawn=String(this.model.scene?.width??""),this.painted.cost=0,this.#sight(),this.around=this.#surroundings(),this.fit(),this.
repaint()}#frame(){let{model:model2}=this;this.flow.measure(model2.at?model2.playing?model2.shown:null:model2.live.up&&!model2.outdated?model2.current:null,model2.
playing||1),this.#sight(),this.repaint()}#sight(){let marks3=sight(this.model,this.#alarmed());marks3.length===this.marks.length&&marks3.every((m,i)=>m===this.marks[i])||
(this.marks=marks3,this.version++,this.painted.cost=0,this.model.dispatchEvent(new Event("sight")),this.repaint())}#surroundings(){let{around:around3,steps}=this.
model.where;return around3&&`${steps} ${around3}`}#moved(){this.#sight(),this.#surroundings()!==this.around&&(this.around=this.#surroundings(),this.fit());let node=this.
model.selected();node>=0&&node!==this.cursor&&this.point(node),this.repaint()}#resize(){let box=this.canvas.parentElement.getBoundingClientRect(),ratio=Math.min(
2,devicePixelRatio||1);box.width<1||box.width===this.width&&box.height===this.height&&ratio===this.ratio||(this.width&&this.camera.shift((box.width-this.width)/
2,(box.height-this.height)/2),Object.assign(this,{width:box.width,height:box.height,ratio}),this.canvas.width=Math.ceil(box.width*ratio),this.canvas.height=Math.
ceil(box.height*ratio),this.canvas.style.width=`${this.canvas.width/ratio}px`,this.canvas.style.height=`${this.canvas.height/ratio}px`,this.layer.width=Math.round(
box.width*(1+2*ahead)*ratio),this.layer.height=Math.round(box.height*(1+2*ahead)*ratio),this.stale=!0,this.painted.cost=0,this.camera.touched?this.model.selected()>=
0&&this.point(this.model.selected()):this.fit(),this.paint(performance.now()))}#click(x,y){let node=this.nodeAt(x,y),found=this.model.scene?.nodes[node];found?(this.
cursor=node,this.model.select(found.kind,found.id)):this.model.select("","")}#hover(node){node!==this.hovered&&(this.hovered=node,this.canvas.classList.toggle("\
over",node>=0),this.model.dispatchEvent(new Event("hover")),this.#ask())}#ask(){this.asked||(this.asked=requestAnimationFrame(time=>this.#next(time)))}get away(){
return this.model.where.table||this.model.bpmn}get moving(){return!this.calm.matches&&!this.away&&this.model.scene!==null&&this.flow.busy&&(this.model.at?this.model.
playing>0:this.model.live.up&&!this.model.outdated)}#next(time){this.asked=0;let still=!this.stale&&this.flash.node<0&&this.painted.x===this.camera.x&&this.painted.
y===this.camera.y&&this.painted.scale===this.camera.scale;(!this.moving||!still||time-this.lastDots>=dotPause)&&this.paint(time),this.moving&&this.#ask()}paint(time){
if(!this.width||this.away)return;this.lastDots=time;let{camera,painted}=this,shiftX=camera.x-painted.x,shiftY=camera.y-painted.y,factor=camera.scale/painted.scale,
scaled=factor!==1,later=painted.cost>dear&&time-this.movedAt<rest&&time-painted.at<patience2&&factor>stretch[0]&&factor<stretch[1],outside=Math.abs(shiftX)>this.
width*ahead||Math.abs(shiftY)>this.height*ahead;later&&(scaled||!outside)?(this.stale||scaled)&&setTimeout(()=>this.#ask(),rest):(this.stale||outside||scaled)&&
this.#paintLayer(time),this.#copy(),this.#marks(),this.moving&&this.#dots(time)}#paintLayer(time){let begun=performance.now(),{model:model2,camera,painter}=this;
painter.ctx.setTransform(this.ratio,0,0,this.ratio,0,0);let view=this.view(ahead);model2.scene?(painter.paint(model2.scene,model2.shown,view),model2.comparing&&
paintChanges(painter.ctx,painter.palette,model2,view)):(painter.ctx.fillStyle=painter.palette.ground,painter.ctx.fillRect(0,0,view.width,view.height)),this.stale=
!1,this.painted={x:camera.x,y:camera.y,scale:camera.scale,cost:performance.now()-begun,at:time}}view(more2=0){let{camera,width:width3,height:height3}=this;return{
scale:camera.scale,x:camera.x+width3*more2,y:camera.y+height3*more2,width:width3*(1+2*more2),height:height3*(1+2*more2),now:this.model.now(),alarmed:this.#alarmed(),
doubted:this.#alarmed(!0),marks:this.marks,version:this.version}}#alarmed(doubted2){let{scene,overview,where}=this.model,all=(overview?.alarms??[]).filter(a=>a.
net===where.net),held2=new Set(all.filter(a=>!a.unknown).map(about2)),nodes=all.filter(a=>!doubted2||!held2.has(about2(a))).sort(urgency(where.net)).flatMap(a=>[
scene?.find("place",a.place??"")??-1,scene?.find("transition",a.transition??"")??-1]);return new Set(nodes.filter(n=>n>=0))}#copy(){let{ctx,camera,painted,ratio,
width:width3,height:height3}=this;ctx.setTransform(ratio,0,0,ratio,0,0);let factor=camera.scale/painted.scale,x=camera.x-(painted.x+width3*ahead)*factor,y=camera.
y-(painted.y+height3*ahead)*factor;factor!==1?(ctx.fillStyle=this.painter.palette.ground,ctx.fillRect(0,0,width3,height3),ctx.drawImage(this.layer,x,y,width3*(1+
2*ahead)*factor,height3*(1+2*ahead)*factor)):(ctx.setTransform(1,0,0,1,0,0),ctx.drawImage(this.layer,Math.round(x*ratio),Math.round(y*ratio)),ctx.setTransform(ratio,
0,0,ratio,0,0))}#marks(){let{ctx,painter:{palette},model:{scene}}=this;if(!scene)return;let over=new Painter(ctx,palette);this.chosen(over,this.hovered),this.#flash(
over,scene),this.cursor>=0&&this.cursor!==this.model.selected()&&document.activeElement===this.canvas&&over.ring(scene,this.cursor,palette.ink,2,[4,3])}chosen(over,hovered=-1){
let{model:model2,painter:{palette}}=this,{scene}=model2;if(!scene)return;Object.assign(over,{scale:this.camera.scale,x:this.camera.x,y:this.camera.y,width:this.
width,height:this.height});let selected=model2.selected();for(let node of new Set([selected,hovered]))node>=0&&over.arcs(scene,scene.arcsOf[node].map(a=>scene.arcs[a]).
filter(a=>this.seen(a.from)&&this.seen(a.to)),palette.accent,2);for(let node of model2.traced.map(id=>scene.find("place",id)))node>=0&&over.ring(scene,node,palette.
accent,3,[2,4]);selected>=0&&over.ring(scene,selected,palette.accent,3,[])}#flash(over,scene){let{node,until}=this.flash,left=until-performance.now();if(!(node<
0)){if(left<=0||!scene.nodes[node]){this.flash.node=-1,delete this.canvas.dataset.flash;return}over.ring(scene,node,this.painter.palette.accent,4,[],this.calm.matches?
10:6+40*left/flashing),this.calm.matches||this.#ask()}}#dots(time){let{ctx,camera,flow}=this;flow.step(time);let scene=this.model.scene,r=dotRadius(camera.scale,
1);ctx.fillStyle=this.painter.palette.dot,flow.dots(time,node=>scene.grown(node,camera.scale),arc=>this.seen(arc.from)&&this.seen(arc.to),(wx,wy,worth2)=>{let x=wx*
camera.scale+camera.x,y=wy*camera.scale+camera.y;x<-r||y<-r||x>this.width+r||y>this.height+r||(ctx.beginPath(),ctx.arc(x,y,dotRadius(camera.scale,worth2),0,2*Math.
PI),ctx.fill())})}};function dotRadius(scale,worth2){return Math.max(1.1,Math.min(4,6.5*scale))*(1+.35*Math.log10(worth2))}function describe(model2,node){let{scene,
shown:shown3}=model2,n=scene?.nodes[node];if(!scene||!n)return"";if(n.kind==="place"){let old=n.final?"finished":`oldest ${age(shown3?.oldestAge(node,model2.now()))}`;
return`place ${label(n)}: ${plural(shown3?.places[node]?.tokens,"token")}, ${old}`}let row2=shown3?.transitions[scene.row(node)]??{};return`transition ${label(n)}\
: ${rate(row2.rate)}, blocked ${count(row2.blocked)}`}var Dots=class{constructor(model2,shown3){this.model=model2,this.shown=shown3,this.flow=new Flow,this.canvas=el("canvas",{class:"dots","aria-hidden":"true"}),this.
calm=matchMedia("(prefers-reduced-motion: reduce)"),this.viewer=null,this.asked=this.painted=0,this.colour="";for(let type of["frame","address","link"])model2.addEventListener(
type,()=>this.measure());this.calm.addEventListener("change",()=>this.#ask())}get moving(){let{at:at2,playing,live}=this.model;return!this.calm.matches&&this.shown()&&
this.flow.busy&&(at2?playing>0:live.up)}draw(viewer,calls){this.viewer=viewer;let{scene}=this.model;viewer.get("canvas").getContainer().querySelector("svg").after(
this.canvas),this.flow.take(scene?.elements?ways(viewer,scene,calls):[]),this.measure()}measure(){let{model:model2}=this;this.flow.measure(model2.at?model2.playing?
model2.shown:null:model2.live.up?model2.current:null,model2.playing||1),this.colour=getComputedStyle(this.canvas).color,this.#ask()}#ask(){!this.asked&&this.viewer&&
(this.moving||this.painted)&&(this.asked=requestAnimationFrame(time=>this.#next(time)))}#next(time){this.asked=0,this.moving?time-this.painted>=dotPause&&this.#paint(
time):this.#clear(),this.moving&&this.#ask()}#clear(){this.painted=0,this.canvas.getContext("2d")?.clearRect(0,0,this.canvas.width,this.canvas.height)}#paint(time){
let{canvas:canvas2,flow}=this,ctx=canvas2.getContext("2d");if(!ctx)return;this.painted=time,flow.step(time);let ratio=devicePixelRatio,[width3,height3]=[Math.round(
canvas2.clientWidth*ratio),Math.round(canvas2.clientHeight*ratio)];(canvas2.width!==width3||canvas2.height!==height3)&&([canvas2.width,canvas2.height]=[width3,height3]);
let{x,y,scale}=this.viewer.get("canvas").viewbox();ctx.setTransform(1,0,0,1,0,0),ctx.clearRect(0,0,width3,height3),ctx.setTransform(ratio,0,0,ratio,0,0),ctx.fillStyle=
this.colour,flow.dots(time,()=>0,()=>!0,(wx,wy,worth2)=>{ctx.beginPath(),ctx.arc((wx-x)*scale,(wy-y)*scale,dotRadius(scale,worth2),0,2*Math.PI),ctx.fill()})}};function ways(viewer,scene,calls){
let elements=scene.elements,canvas2=viewer.get("canvas"),root=canvas2.getRootElement(),flows=new Map;for(let flow of viewer.get("elementRegistry").filter(s=>s.waypoints&&
s.type==="bpmn:SequenceFlow"&&canvas2.findRoot(s)===root))for(let place3 of elements.at(calls,flow.id)?.places??[])flows.set(place3,{flow,parts:halves(flow)});let all=[];
for(let node=scene.placeCount;flows.size&&node<scene.nodes.length;node++){let id=elements.of(node)?.id,arcs=scene.arcsOf[node].map(a=>scene.arcs[a]).filter(a=>a.
kind==="normal"),ins=arcs.filter(a=>a.to===node&&flows.has(a.from)).map(a=>{let{flow,parts:parts2}=flows.get(a.from),next=flow.target?.id!==id&&flow.target?.outgoing?.
find(f=>f.target?.id===id);return{...next?measured([...parts2[1].points,...next.waypoints.map(p=>[p.x,p.y])]):parts2[1],from:a.from,to:a.to}}),outs=arcs.filter(
a=>a.from===node&&flows.has(a.to)).map(a=>({...flows.get(a.to).parts[0],from:a.from,to:a.to}));(ins.length||outs.length)&&all.push({row:node-scene.placeCount,ins,
outs})}return all}var seen=Object.freeze({light:[0,.3],dark:[.12,1]}),fills=Object.freeze(["color:background-color","bioc:fill"]);function tint(definitions){for(let di of(definitions.
diagrams??[]).flatMap(d=>d.plane?.planeElement??[])){if(holder(di))for(let name2 of fills)di.get(name2)&&di.set(name2,`light-dark(${di.get(name2)}, var(--bpmn-f\
ill))`);filled(di)||soften(di,["color:border-color","bioc:stroke"],"var(--bpmn-line)"),di.label&&beside2(di)?soften(di.label,["color:color"],"var(--bpmn-ink)"):
di.label&&!filled(di)&&di.label.set("color:color",void 0)}}function inkOf({di}){let fill2=filled(di).replace(/^light-dark\((.*), var.*/,"$1"),ink=luminance(channels2(
fill2))>.18?"#10141b":"#f5f7fa";return fill2&&(holder(di)?`light-dark(${ink}, var(--ink))`:ink)}function filled(di){return fills.map(name2=>di?.get(name2)).find(
Boolean)??""}function holder(di){return/^bpmn:(Participant|Lane)$/.test(di?.bpmnElement?.$type??"")}function beside2({bpmnElement}){return/(Event|Gateway|Flow|Association)$|^bpmn:Data/.
test(bpmnElement?.$type??"")}function soften(of,names,instead2){for(let name2 of names){let colour=of.get(name2);if(!colour)continue;let bright=luminance(channels2(
colour)),[light,dark]=[seen.light,seen.dark].map(([least,most9])=>bright>=least&&bright<=most9?colour:instead2);of.set(name2,light===dark?light:`light-dark(${light}\
, ${dark})`)}}function luminance(rgb){let[r,g,b]=rgb.map(v=>v/255<=.04045?v/255/12.92:((v/255+.055)/1.055)**2.4);return .2126*r+.7152*g+.0722*b}function channels2(colour){
let ctx=new OffscreenCanvas(1,1).getContext("2d");return ctx.fillStyle=colour,ctx.fillRect(0,0,1,1),[...ctx.getImageData(0,0,1,1).data].slice(0,3)}var legible2={min:.72,max:1.3},detail3={rates:.44,tokens:.36},near=.8,margin2={side:34,top:62,bottom:74},marks2=["chosen","pointed","alarmed","doubted","traced"],
BpmnStage=class{constructor(model2,root,theme2){this.model=model2,this.root=root,this.scale=new HeatScale(theme2.now),this.viewer=null,this.drawn="",this.tried=
null,this.files=[],this.at={file:0,process:null},this.diagram=null,this.fitted=!1,this.calls=[],this.dots=new Dots(model2,()=>this.shown&&!model2.where.table),this.
badges=new Map,this.over=this.cursor="",model2.on("drawing address",()=>this.#turn()),model2.on("frame overview link",()=>this.update()),setInterval(()=>(!model2.
at||model2.comparing)&&this.update(),1e3),theme2.addEventListener("change",()=>{this.scale=new HeatScale(theme2.now),this.update(),this.dots.measure()}),new ResizeObserver(
()=>this.#resize()).observe(root)}get shown(){return this.model.bpmn&&this.viewer!==null}get width(){return this.root.clientWidth}get height(){return this.root.
clientHeight}get moving(){return this.dots.moving}get flow(){return this.dots.flow}get node(){return this.nodes(this.cursor)[0]??-1}get hovered(){return this.nodes(
this.over)[0]??-1}get others(){return this.nodes(this.over).slice(1)}nodes(id){let{scene,shown:shown3}=this.model,e=scene?.elements?.at(this.calls,id);return scene?.
elements&&e?scene.elements.nodesOf(e,shown3):[]}focus(){this.root.focus()}zoom(factor){let canvas2=this.viewer?.get("canvas");canvas2?.zoom(canvas2.zoom()*factor,
"auto")}fit(){if(this.fitted=this.width>0&&this.viewer!==null,!this.fitted)return;let canvas2=this.viewer.get("canvas");canvas2.resized();let box=canvas2.viewbox().
inner,scale=Math.min(1.2,(this.width-2*margin2.side)/Math.max(1,box.width),(this.height-margin2.top-margin2.bottom)/Math.max(1,box.height));canvas2.viewbox({x:box.
x-(this.width/scale-box.width)/2,width:this.width/scale,height:this.height/scale,y:box.y-margin2.top/scale-((this.height-margin2.top-margin2.bottom)/scale-box.height)/
2})}#resize(){this.viewer?.get("canvas").resized(),this.fitted?this.cursor&&this.model.selected()>=0&&this.#reveal(this.cursor):this.fit()}where(){let shape=this.
viewer.get("elementRegistry").get(this.over),box=this.viewer.get("canvas").viewbox(),{x,y,width:width3,height:height3}=shape.waypoints?{...middle(shape),width:0,
height:0}:shape;return{x:(x+width3/2-box.x)*box.scale,y:(y+height3/2-box.y)*box.scale,w:width3*box.scale,h:height3*box.scale}}point(node){let e=this.model.scene?.
elements?.of(node);!e||!this.viewer||(same(e.calls,this.calls)?this.#reveal(e.id):this.enter(e.calls??[]).then(()=>this.#reveal(e.id)))}step(dx,dy){let registry=this.
viewer?.get("elementRegistry");if(!registry)return"";let root=this.viewer.get("canvas").getRootElement(),all=registry.filter(s=>this.badges.has(s.id)&&this.viewer.
get("canvas").findRoot(s)===root),from=registry.get(this.cursor),next=from?beside(from,all,dx,dy):this.#hottest(all);return next&&this.#reveal(next.id),this.describe(
this.cursor)}open(){this.cursor&&this.#select(this.cursor)}describe(id){let{scene,shown:shown3}=this.model,e=scene?.elements?.at(this.calls,id),shape=this.viewer?.
get("elementRegistry").get(id);if(!e||!shape||!scene?.elements)return"";let s=scene.elements.state(e,shown3,this.model.now()),kind=shape.type.replace("bpmn:","").
replace(/(?<=[a-z])(?=[A-Z])/g," ").toLowerCase(),old=s.final?"finished":`oldest ${age(s.tokens===0?0:s.age)}`;return`${kind} ${short(shape.businessObject.name||
id,80)}: ${count(s.tokens)} tokens, ${old}, ${rate(s.rate)}${s.blocked?", blocked":""}`}async enter(calls){this.calls=calls,this.over=this.cursor="";let own=this.
model.scene?.model?.file??0;this.at=calls.reduce((at2,call)=>called(this.files,at2.file,call)??at2,{file:own,process:{id:this.model.where.net}});let definitions=this.
files[this.at.file],diagram2=diagramOf(definitions,this.at.process.id,this.diagram);diagram2!==this.diagram&&(this.diagram=diagram2,await(definitions===this.viewer.
getDefinitions()?this.viewer.open(diagram2):this.viewer.importDefinitions(definitions,diagram2))),this.#mount(),this.fit()}#turn(){let{model:model2}=this,digest=model2.
scene?.model?.digest??"";model2.bpmn&&(digest!==this.drawn||!this.viewer&&this.tried!==model2.scene)?this.#draw(digest):this.scene!==model2.scene&&this.viewer&&
model2.scene&&this.#mount();let node=model2.selected(),e=model2.scene?.elements?.of(node);model2.bpmn&&e&&this.viewer&&(e.id!==this.cursor||!same(e.calls,this.calls))&&
this.point(node),model2.bpmn&&node>=0&&!e&&model2.address.go({view:"net"},!0),this.update()}async#draw(digest){this.viewer?.destroy(),this.viewer=null,this.badges.
clear(),this.drawn=digest,this.calls=[],this.root.dataset.drawn="",this.tried=this.model.scene;let{net:net2}=this.model.where,{files=1,file:own=0}=this.model.scene?.
model??{};try{let asked=Array.from({length:files},(_,i)=>text("model",i===own?{net:net2}:{net:net2,file:String(i)})),[BpmnJS,...texts]=await Promise.all([library(),
...asked]);if(digest!==this.drawn||net2!==this.model.where.net)return;let colour={defaultFillColor:"var(--bpmn-fill)",defaultStrokeColor:"var(--bpmn-line)",defaultLabelColor:"\
var(--bpmn-ink)"},viewer=new BpmnJS({container:this.root,bpmnRenderer:colour}),read2=await Promise.all(texts.map(async xml2=>(await viewer.get("moddle").fromXML(
xml2)).rootElement));if(read2.forEach(tint),await viewer.importDefinitions(read2[own]),digest!==this.drawn)return viewer.destroy();this.viewer=viewer,this.files=
read2,this.diagram=this.files[own].diagrams[0],this.#listen(viewer),await this.enter([]),this.#turn()}catch(error){this.viewer=null,this.model.noBpmn(error instanceof
Error?error.message:String(error))}}#listen(viewer){let bus=viewer.get("eventBus"),svg2=viewer.get("canvas").getContainer().querySelector("svg");svg2.setAttribute(
"tabindex","-1"),svg2.setAttribute("aria-hidden","true"),bus.on("element.click",event=>this.#select(event.element.labelTarget?.id??event.element.id)),bus.on("el\
ement.hover",event=>this.#hover(event.element.labelTarget?.id??event.element.id)),bus.on("element.out",()=>this.#hover("")),bus.on("canvas.viewbox.changed",()=>this.#looked()),
bus.on("root.set",()=>{this.update(),this.badges.size&&this.dots.draw(viewer,this.calls)})}#looked(){let scale=this.viewer?.get("canvas").zoom()??1;this.root.classList.
toggle("far",scale<detail3.rates),this.root.classList.toggle("farther",scale<detail3.tokens),this.model.dispatchEvent(new Event("hover"))}#hover(id){let over=this.
badges.has(id)?id:"";over!==this.over&&(this.over=over,this.model.dispatchEvent(new Event("hover")))}#select(id){let node=this.nodes(id)[0]??-1,found=this.model.
scene?.nodes[node];this.cursor=found?id:"",found?this.model.select(found.kind,found.id):this.model.select("",""),this.update()}#reveal(id){let canvas2=this.viewer.
get("canvas"),shape=this.viewer.get("elementRegistry").get(id);if(this.cursor=id,!shape)return;let root=canvas2.findRoot(shape);root&&root!==canvas2.getRootElement()&&
canvas2.setRootElement(root),canvas2.zoom()<detail3.tokens&&canvas2.zoom(near,"auto"),canvas2.scrollToElement(shape,Math.min(90,this.width/5,this.height/5)),this.
update()}#hottest(shapes){let{model:model2}=this,e=model2.scene?.elements?.of(Math.max(0,model2.selected()>=0?model2.selected():model2.hottest()));return shapes.
find(s=>s.id===e?.id)??shapes[0]}#mount(){this.scene=this.model.scene;let overlays=this.viewer.get("overlays");overlays.remove({type:"pn"}),this.badges.clear();
let registry=this.viewer.get("elementRegistry");for(let shape of registry.getAll()){let ink=shape.labelTarget||shape.waypoints?"":inkOf(shape);if(ink){let gfx=registry.
getGraphics(shape);gfx.classList.add("coloured"),paint(gfx,"",ink)}if(shape.labelTarget||!this.scene?.elements?.at(this.calls,shape.id))continue;let badge2=new Badge(
!!shape.waypoints);this.badges.set(shape.id,badge2);let add=(html,position)=>overlays.add(shape,"pn",{html,position,scale:legible2});if(shape.waypoints){let at2=middle(
shape),corner={left:Math.min(...shape.waypoints.map(p=>p.x)),top:Math.min(...shape.waypoints.map(p=>p.y))};add(el("div",{class:"on-flow"},badge2.held,badge2.rate),
{left:at2.x-corner.left,top:clear(at2,shape.label)-corner.top})}else{let large=shape.width>60;add(el("div",{class:"on-shape"},badge2.held),{top:-11,right:large?
18:10}),add(el("div",{class:large?"on-task":"beside-small"},badge2.rate),large?{bottom:15,left:crowded(shape)?shape.width-42:5}:{top:shape.host?34:2,left:10})}shape.
type==="bpmn:CallActivity"&&this.#door(shape,add)}this.#way(),this.dots.draw(this.viewer,this.calls),this.root.dataset.drawn=this.drawn,this.update()}#door(shape,add){
let{model:model2}=this,id=reached(this.files[this.at.file],shape.id)??"",to=called(this.files,this.at.file,shape.id),here=model2.scene?.model?.elements.some(e=>same(
e.calls,[...this.calls,shape.id]))&&to&&diagramOf(this.files[to.file],id,null),other=model2.latest?.nets.some(n=>n.id===id&&n.id!==model2.where.net);if(!here&&!other)
return;let go=()=>here?this.enter([...this.calls,shape.id]):model2.openNet(id);add(el("button",{type:"button",class:"bjs-drilldown door","aria-label":`Open the \
called process ${label({id})}`,onclick:go},"↓"),{bottom:20,right:22})}#way(){if(this.root.querySelector(".way-out")?.remove(),!this.calls.length)return;let{name:name2,
id}=this.at.process;this.root.append(el("button",{type:"button",class:"way-out",onclick:()=>this.enter(this.calls.slice(0,-1))},`← out of ${short(name2||id,60)}`))}repaint(){
this.update()}update(){let{model:model2,viewer}=this,{scene,shown:shown3}=model2;if(!this.shown||!scene?.elements||this.scene!==scene)return;let now=model2.now(),
registry=viewer.get("elementRegistry"),marked3=this.#marked();for(let[id,badge2]of this.badges){let e=scene.elements.at(this.calls,id),gfx=registry.getGraphics(
id);if(!e||!gfx)continue;let state=scene.elements.state(e,shown3,now);if(badge2.show(state,this.scale,this.#change(e,state))){let hot2=state.tokens&&!badge2.flow?
state:null;gfx.classList.contains("coloured")||paint(gfx,hot2?this.scale.fill(hot2.heat):"",hot2?this.scale.ink(hot2.heat):""),gfx.classList.toggle("hot",hot2!==
null)}for(let mark2 of marks2)gfx.classList.toggle(mark2,marked3[mark2].has(id))}}#change(e,then2){let{scene,shown:shown3,current,comparing,clock:clock2,at:at2}=this.
model;if(!comparing||!scene?.elements||!shown3||current?.drawing!==shown3.drawing)return"";let now=scene.elements.state(e,current,clock2.now()),passed=(clock2.now()-
at2)/1e3,same4=now.tokens&&then2.tokens&&Math.abs((now.age??0)-(then2.age??0)-passed)<.1;return[brief({by:less(now.tokens,then2.tokens),aged:0}),same4&&now.age?
`same, +${shortAge(passed)}`:""].filter(Boolean).join(" · ")}#marked(){let{model:model2}=this,{scene,where,overview}=model2,ids=nodes2=>new Set(nodes2.map(n=>scene?.
elements?.of(n)).filter(e=>e&&same(e.calls,this.calls)).map(e=>e.id)),alarms=(overview?.alarms??[]).filter(a=>a.net===where.net),nodes=a=>[scene?.find("place",a.
place??"")??-1,scene?.find("transition",a.transition??"")??-1];return{chosen:ids([model2.selected()]),pointed:new Set(document.activeElement===this.root?[this.cursor]:
[]),alarmed:ids(alarms.filter(a=>!a.unknown).flatMap(nodes)),doubted:ids(alarms.filter(a=>a.unknown).flatMap(nodes)),traced:ids(model2.traced.map(id=>scene?.find(
"place",id)??-1))}}};function paint(gfx,fill2,ink){for(let[token,value]of[["fill",fill2],["line",ink],["ink",ink]])value?gfx.style.setProperty("--bpmn-"+token,value):
gfx.style.removeProperty("--bpmn-"+token)}function same(a,b){return(a??[]).join(`
`)===b.join(`
`)}function clear({x,y},name2){let half={width:26,height:9};return name2&&x+half.width>name2.x&&x-half.width<name2.x+name2.width&&y+half.height>name2.y&&y-half.
height<name2.y+name2.height?name2.y+name2.height+half.height:y}function crowded(shape){return(shape.attachers??[]).some(a=>a.x<shape.x+50&&a.y+a.height>shape.y+
shape.height-15)}async function library(){let file=name2=>new URL(`vendor/bpmn-js/${name2}`,import.meta.url).href;for(let sheet of["diagram-js","bpmn-js"]){let href=file(
`${sheet}.css`);document.querySelector(`link[href="${href}"]`)||document.head.prepend(el("link",{rel:"stylesheet",href}))}return await import(file("bpmn-navigat\
ed-viewer.js")),globalThis.BpmnJS}var width=280,height=44;function sparkline(points,column,o){let known=points.filter(p=>p[column]!=null&&p[0]!=null),top=Math.max(1e-9,...known.map(p=>p[column])),
until=o.mark?known.filter(p=>p[0]<=o.mark):known,last=until.length?until[until.length-1][column]:null,x=ms=>(ms-o.from)/Math.max(1,o.to-o.from)*width,y=v=>height-
3-v/top*(height-8),picture2=svg("svg",{viewBox:`0 0 ${width} ${height}`,preserveAspectRatio:"none",class:"spark "+(o.className??""),role:"img","aria-label":`${o.
title} over an hour: ${last==null?"not known":o.say(last)} ${o.mark?"then":"now"}, at most ${known.length?o.say(top):"–"}`});for(let run of runs(points,column)){
let line3=run.map(([ms,v])=>`${x(ms).toFixed(1)},${y(v).toFixed(1)}`);picture2.append(svg("polygon",{class:"area",points:[`${x(run[0][0]).toFixed(1)},${height}`,
...line3,`${x(run[run.length-1][0]).toFixed(1)},${height}`].join(" ")}),svg("polyline",{class:"line",points:line3.join(" "),"vector-effect":"non-scaling-stroke"}))}
if(o.mark&&o.mark>=o.from&&picture2.append(svg("line",{class:"now",x1:x(o.mark),x2:x(o.mark),y1:0,y2:height,"vector-effect":"non-scaling-stroke"})),o.pick){let pick=o.
pick;picture2.addEventListener("click",event=>{let box=picture2.getBoundingClientRect();pick(o.from+(event.clientX-box.left)/box.width*(o.to-o.from))})}return el(
"figure",{class:"chart"},el("figcaption",null,o.title,el("span",{class:"num"},last==null?"–":o.say(last)),el("span",{class:"quiet num"},known.length?`max ${o.
say(top)}`:"")),picture2,el("div",{class:"axis quiet"},el("span",null,clock(o.from)),el("span",null,clock(o.to))))}function runs(points,column){let all=[],open=!1;
for(let p of points){let v=p[column];if(v==null||p[0]==null){open=!1;continue}open||all.push([]),open=!0,all[all.length-1].push([p[0],v])}return all}var units2={
s:1,m:60,h:3600,d:86400};function ladder(olderThan,tokens,scale){let all=Math.max(1,tokens??0,...Object.values(olderThan)),table2=el("table",{class:"ladder"},el(
"caption",null,"Tokens older than"));for(let[label2,older]of Object.entries(olderThan)){let seconds=parseInt(label2)*units2[label2.slice(-1)],bar=svg("svg",{viewBox:"\
0 0 100 8",preserveAspectRatio:"none",class:"barline","aria-hidden":"true"},svg("rect",{width:100,height:8,class:"track"}),svg("rect",{width:older?Math.max(1.5,
older/all*100):0,height:8,fill:scale.fill(heat(seconds*1.01))}));table2.append(el("tr",null,el("th",{scope:"row"},wholeAge(seconds)),el("td",null,bar),el("td",{
class:"num"},count(older))))}return table2}function wholeAge(seconds){for(let[size3,unit]of[[86400,"d"],[3600,"h"],[60,"m"]])if(seconds>=size3&&seconds%size3===
0)return`${seconds/size3} ${unit}`;return`${seconds} s`}function histogram(d,title){if(!d)return el("p",{class:"quiet"},`${title}: ${"–"}`);let figure=el("fig\
ure",{class:"chart"},el("figcaption",null,title,el("span",{class:"quiet num"},`${count(d.count)} measured`))),buckets=(d.buckets??[]).filter(b=>b[1]>0);if(buckets.
length){let bars=merged(buckets),top=Math.max(...bars.map(b=>b[1])),step=width/bars.length,steps=`${title}, ${bars.length} steps from ${age(bars[0][0])} to ${age(
bars[bars.length-1][0])}`;figure.append(svg("svg",{viewBox:`0 0 ${width} ${height}`,preserveAspectRatio:"none",class:"spark bars",role:"img","aria-label":steps},
...bars.map(([upper,n],i)=>svg("rect",{x:i*step+.5,width:Math.max(1,step-1),y:height-Math.max(1.5,n/top*(height-2)),height:Math.max(1.5,n/top*(height-2))},svg("\
title",null,`up to ${upper===null?"any":age(upper)}: ${count(n)}`)))),el("div",{class:"axis quiet"},el("span",null,`≤ ${age(bars[0][0])}`),el("span",null,`≤ ${age(
bars[bars.length-1][0])}`)))}return figure.append(facts2([["mean",age(d.mean)],["p50",age(d.p50)],["p95",age(d.p95)],["p99",age(d.p99)]])),figure}function merged(buckets){
let each=Math.ceil(buckets.length/40),bars=[];for(let i=0;i<buckets.length;i+=each){let group2=buckets.slice(i,i+each);bars.push([group2[group2.length-1][0],group2.
reduce((a,b)=>a+b[1],0)])}return bars}function facts2(pairs){return el("dl",{class:"facts"},...pairs.map(([term,value])=>el("div",null,el("dt",null,term),el("dd",
{class:"num"},value))))}function heatLegend(scale){let ramp=Array.from({length:24},(_,i)=>svg("rect",{x:i,width:1.05,height:1,fill:scale.fill(i/23)}));return el(
"div",{class:"heat"},el("span",{class:"quiet"},"oldest token"),svg("svg",{viewBox:"0 0 24 1",preserveAspectRatio:"none"},...ramp),el("div",{class:"scale"},...marks.
map(([seconds,text4])=>el("span",{class:"m"+Math.round(heat(seconds)*100)},text4))))}var pause=15e3,Headline=class{constructor(model2){this.model=model2,this.title=byId("net-name"),this.name=el("bdi",{class:"name"},"pnagent"),this.title.replaceChildren(
this.name),this.age=el("strong",{class:"num"}),this.place=el("bdi",{class:"name"}),this.open=el("button",{type:"button",class:"link-like",onclick:()=>model2.select(
"place",this.oldest)},this.place),this.vitals=byId("vitals"),this.vitals.append(el("span",{class:"quiet"},"oldest "),this.age,el("span",{class:"quiet"}," in "),
this.open),this.oldest="",this.said=0,model2.on("overview drawing frame address",()=>this.show()),this.show()}show(){let{net:net2,shown:shown3,where,scene,at:at2}=this.
model,called3=net2?label(net2):visible(scene?.name||where.net||"pnagent");say(this.name,called3),this.title.title=called3,document.title=`${net2?signs(net2):""}${called3.
slice(0,80)}${at2?` at ${when(at2)}`:""} – pnagent`;let hottest3=this.model.hottest(),place3=hottest3>=0?scene?.nodes[hottest3]:void 0;this.vitals.hidden=!place3,
this.oldest=place3?.id??"",place3&&(say(this.age,age(shown3?.oldestAge(hottest3,this.model.now()))),say(this.place,label(place3))),!(!net2||at2||Date.now()-this.
said<pause)&&(this.said=Date.now(),say(byId("summary"),`${this.model.outdated?"Last known of ":""}${called3}: ${net2.tokens??"unknown"} tokens${place3?`, oldest\
 ${this.age.textContent} in ${label(place3)}`:""}, ${tally(net2)}.`))}};function signs(net2){return causes(net2)>0?`▲${causes(net2)} `:net2.alarms_unknown?`?${net2.
alarms_unknown} `:""}var keys=[["drag, wheel, pinch","move and zoom"],["+  −  0","zoom in, zoom out, whole net"],["/","search"],["← ↑ → ↓","to the next connected node"],["\
Enter","open the node"],["n  <  >","only what is near the node, fewer and more steps"],["q","collapse what is quiet"],["Esc","close, back"],["h","to the oldest \
token"],["t","table or drawing"],["b","BPMN or net"],["i","waiting instances by name, place and age"],["[  ]","back and forth in time"],["{  }","to where alarms\
 were raised or cleared"],["p","play the past up to now, pause"],["c","compare the past with now"],["l","back to live"],["s","share: a link, a picture, tables"],
["d","dark or light"],["?","this help"]],signs2=[["circle","a place and how many tokens are in it; its colour and the ring around it say how old the oldest is, \
from a second to an hour and more"],["grey circle","a place in which tokens stay on purpose: no transition takes them, or the rules for alarms turn tokenStuck o\
ff there; its age has no colour and is not among the oldest"],["box","a transition and how often it fires; a ring with a bar marks that instances wait for it"],
["dot","one firing, or as many as the legend says"],["–","not known: no source of the net reports it. This is not 0"],["thin dashes","what is quiet and collap\
sed: places without tokens, transitions in which nothing happens"],["+3  −3  same","in a comparison with now: three tokens more or fewer now; the oldest token\
 is still there"],["thick outline","an alarm is active; dashed if it is not known whether it still holds"],["▲  ▽","above the slider: an alarm was raised, w\
as cleared"],["arrow, ring, dashes","an arc that takes or puts tokens, an inhibitor arc, a read arc; ×3 is its weight"]],Help=class{constructor(){this.dialog=byId(
"help"),this.dialog.append(el("h2",{id:"help-title"},"Keys"),listed2(keys,"kbd"),el("h2",null,"What is drawn"),listed2(signs2,"span"),el("p",{class:"quiet"},"Ev\
erything on the page is of the one moment that the slider shows. The address of this page holds what you see: net, selection, time, comparison, part, filters. S\
end it as a link; “to this moment” makes others see the numbers of now later."),el("p",null,el("a",{href:"endpoints"},"Everything this server offers")),el("\
button",{type:"button",onclick:()=>this.dialog.close()},"close"))}toggle(){this.dialog.open?this.dialog.close():this.dialog.showModal()}};function listed2(pairs,tag2){
return el("dl",null,...pairs.map(([term,text4])=>el("div",null,el("dt",null,el(tag2,null,term)),el("dd",null,text4))))}var durations=[900,3600,4*3600,24*3600,168*3600],usual=3600,instead="Mend its cause, or acknowledge or silence it.",Notes=class{constructor(report){this.report=
report}buttons(subject2){let acts=el("div",{class:"acts"}),all=()=>subject2.alarms().every(a=>a.acknowledged),ack=el("button",{type:"button",class:"link-like ac\
k",onclick:()=>all()?this.#acknowledge(subject2,!0,""):this.#ask(acts,{what:"Acknowledge",button:"ack"},comment=>this.#acknowledge(subject2,!1,comment))});if(acts.
append(ack),subject2.of&&acts.append(el("button",{type:"button",class:"link-like silence-it",onclick:()=>this.#ask(acts,{what:"Silence",button:"silence-it",lasting:!0},
(comment,seconds)=>this.#post("alarms/silence",{for_seconds:seconds,...subject2.of,...noted(comment)}))},"Silence …")),subject2.alarms().every(a=>a.unknown)){
let words3="Close what you know to be over. Its end is sent to all receivers, with your name and comment.";acts.append(el("button",{type:"button",class:"link-li\
ke close-it",onclick:()=>this.#ask(acts,{what:"Close",button:"close-it",words:words3},comment=>this.#close(subject2,comment))},"Close …"))}return this.update(
acts,subject2),acts}update(acts,subject2){say(acts.firstElementChild,subject2.alarms().every(a=>a.acknowledged)?"Withdraw":"Acknowledge …")}end(id){return this.#post(
"alarms/unsilence",{id})}#ask(acts,{what,button:button2,words:words3,lasting},then2){let open=acts.nextElementSibling?.matches("form")?acts.nextElementSibling:null;
if(open?.remove(),open?.getAttribute("aria-label")===what)return;let comment=el("input",{type:"text",maxlength:256,placeholder:"comment (optional)","aria-label":"\
Comment, may be empty",autocomplete:"off"}),length=el("select",{"aria-label":"For how long"},...durations.map(s=>el("option",{value:s,selected:s===usual},`for ${span(
s)}`))),form=el("form",{class:"note-form","aria-label":what},words3&&el("p",{class:"quiet"},words3),comment,lasting&&length,el("button",{type:"submit"},what),el(
"button",{type:"button",onclick:()=>close()},"Cancel")),close=()=>{form.remove(),acts.querySelector("."+button2).focus()};form.addEventListener("submit",event=>{
event.preventDefault(),close(),then2(comment.value.trim(),Number(length.value))}),form.addEventListener("keydown",event=>{event.key==="Escape"&&(event.stopPropagation(),
close())}),acts.after(form),comment.focus()}#acknowledge(subject2,withdraw,comment){let indices=subject2.alarms().filter(a=>withdraw===!!a.acknowledged).map(a=>a.
index);return this.#post(`alarms/${withdraw?"unack":"ack"}`,{indices,...noted(comment)})}async#post(path,change){try{await post(path,change),this.report("")}catch(error){
this.report(`Not done: ${text2(error)}`)}}async#close(subject2,comment){let alarms=subject2.alarms().filter(a=>a.unknown),{lost}=subject2,which=lost&&!/[*?]/.test(
lost)?{source:lost}:{indices:alarms.map(a=>a.index)};try{let{holding}=await post("alarms/close",{...which,...noted(comment)});this.report(holding?.length?`Close\
d. Not closed, because known to hold: ${plural(holding.length,"alarm")} of source ${lost}. ${instead}`:"")}catch(error){let holds=error instanceof ApiError&&error.
status===409,what=alarms.length===1?`${subject(alarms[0])} is known to hold again`:"one of these alarms is known to hold again, and none is closed";this.report(
holds?`Not closed: ${what}. ${instead}`:`Not closed: ${text2(error)}`)}}};function text2(error){return error instanceof Error?error.message:String(error)}function noted(comment){
return comment?{comment}:{}}function notes(a){let parts2=[a.severity],ack=a.acknowledged;return ack&&parts2.push(`acknowledged by ${ack.by}${ack.comment?`: ${ack.
comment}`:""}`),a.silenced_until&&parts2.push(`silenced until ${moment(Date.parse(a.silenced_until))}`),a.follows&&parts2.push(`follows from lost source ${a.follows}`),
a.unknown&&parts2.push(`unknown: ${a.unknown}`),parts2.join(" · ")}function moment(ms){return Math.abs(ms-Date.now())<24*36e5?clock(ms):`${new Date(ms).toISOString().
slice(0,10)} ${clock(ms)}`}var Elements=class{constructor(model2,nodes,placeCount){this.nodes=nodes,this.placeCount=placeCount,this.index=new Map,this.owners=new Map;for(let e of model2.elements){
this.index.set(key(e.calls??[],e.id),e);for(let node of[...e.places,...this.#transitions(e)])this.owners.set(node,e)}for(let e of model2.elements)for(let place3 of e.
tokens)this.owners.set(place3,e)}at(calls,id){return this.index.get(key(calls,id))}of(node){return this.owners.get(node)}#transitions(e){return e.transitions.map(
row2=>row2+this.placeCount)}nodesOf(e,frame){let since2=place3=>(this.nodes[place3].calm?0:frame?.places[place3]?.since)||1/0,held2=e.tokens.filter(p=>frame?.places[p]?.
tokens!==0).sort((a,b)=>since2(a)-since2(b)),fires=e.fires.map(row2=>row2+this.placeCount);return[...new Set([...held2,...fires,...e.tokens,...e.places,...this.#transitions(
e)])]}state(e,frame,now){let held2=e.tokens.filter(p=>frame?.places[p]?.tokens),oldest3=places=>{let ages2=places.map(p=>frame?.oldestAge(p,now)).filter(a=>typeof a==
"number");return ages2.length?Math.max(...ages2):null},unfinished=held2.filter(p=>!this.nodes[p].final),rows2=e.transitions.map(row2=>frame?.transitions[row2]??
{});return{tokens:e.tokens.length?sum(e.tokens.map(p=>frame?.places[p]?.tokens)):0,age:oldest3(unfinished),heat:heat(oldest3(unfinished.filter(p=>!this.nodes[p].
calm))),final:held2.length>0&&!unfinished.length,rate:e.fires.length?sum(e.fires.map(row2=>frame?.transitions[row2]?.rate)):sum(e.places.map(p=>frame?.places[p]?.
arrival_rate)),blocked:rows2.some(t=>t.blocked)&&!rows2.some(t=>t.running)}}};function sum(numbers){let known=numbers.filter(n=>typeof n=="number");return known.
length?known.reduce((a,b)=>a+b,0):null}function key(calls,id){return[...calls,id].join(`
`)}var Grid=class{constructor(nodes){this.cells=new Map,this.reach=0,nodes.forEach((n,i)=>{this.reach=Math.max(this.reach,n.w/2,n.h/2);let key4=keyOf(Math.floor(n.
x/200),Math.floor(n.y/200)),there2=this.cells.get(key4);there2?there2.push(i):this.cells.set(key4,[i])})}around(x,y,distance,visit){let far=distance+this.reach;
for(let i=Math.floor((x-far)/200);i<=Math.floor((x+far)/200);i++)for(let k=Math.floor((y-far)/200);k<=Math.floor((y+far)/200);k++)this.cells.get(keyOf(i,k))?.forEach(
visit)}};function keyOf(i,k){return i*1e6+k}var legible3=12,enough=400,Scene=class{constructor(drawing){this.net=drawing.net,this.name=drawing.name??"",this.doc=drawing.doc??"",this.hash=drawing.hash,this.
width=drawing.width,this.nodes=drawing.nodes,this.placeCount=drawing.nodes.filter(n=>n.kind==="place").length,this.model=drawing.model,this.elements=drawing.model&&
new Elements(drawing.model,this.nodes,this.placeCount),this.arcs=drawing.arcs.map(arc=>measured2(arc,this.nodes)),this.arcsOf=this.nodes.map(()=>[]),this.index=
new Map,this.nodes.forEach((node,i)=>this.index.set(node.kind+" "+node.id,i)),this.arcs.forEach((arc,i)=>{this.arcsOf[arc.from].push(i),arc.to!==arc.from&&this.
arcsOf[arc.to].push(i)}),this.labels=this.nodes.map(n=>n.label?.split(`
`)??twoLines(label(n),16)),this.names=new Labels(this),this.grid=new Grid(this.nodes),this.room=this.nodes.slice(0,this.placeCount).map((_,i)=>this.#room(i)),this.
usualRoom=[...this.room].sort((a,b)=>a-b)[Math.floor(this.room.length/5)]??0,this.box=this.#bounds()}rest(resting){let may=new Set(resting);for(let i=0;i<this.placeCount;i++)
this.nodes[i].calm=this.nodes[i].final||!work(this.nodes[i])||may.has(i)}find(kind,id){return this.index.get(kind+" "+id)??-1}row(node){return node<this.placeCount?
node:node-this.placeCount}at(x,y,slack,seen2){let best=-1,bestDistance=1/0;return this.grid.around(x,y,slack,i=>{if(!seen2(i))return;let n=this.nodes[i],dx=Math.
max(0,Math.abs(x-n.x)-n.w/2),dy=Math.max(0,Math.abs(y-n.y)-n.h/2),distance=Math.hypot(dx,dy)+Math.hypot(x-n.x,y-n.y)*.001;distance<=slack+.001*(n.w+n.h)&&distance<
bestDistance&&([best,bestDistance]=[i,distance])}),best}towards(node,dx,dy,seen2){let connected=this.arcsOf[node].map(a=>this.arcs[a].from===node?this.arcs[a].to:
this.arcs[a].from),found=this.#best(node,dx,dy,connected.filter(seen2),.25);return found>=0?found:this.#best(node,dx,dy,[...this.nodes.keys()].filter(seen2),.6)}#best(node,dx,dy,candidates,least){
let from=this.nodes[node],best=-1,bestCost=1/0;for(let i of candidates){let vx=this.nodes[i].x-from.x,vy=this.nodes[i].y-from.y,distance=Math.hypot(vx,vy),cosine=distance?
(vx*dx+vy*dy)/distance:-1,cost=distance/Math.max(1e-9,cosine*cosine);cosine>=least&&cost<bestCost&&([best,bestCost]=[i,cost])}return best}radius(place3,scale){let n=this.
nodes[place3],own=Math.min(n.w,n.h)/2*scale;return own>=legible3?own:Math.max(2,own,Math.min(legible3,Math.min(this.room[place3],this.usualRoom)*scale*.52))}grown(node,scale){
return node<this.placeCount?this.radius(node,scale)/scale-Math.min(this.nodes[node].w,this.nodes[node].h)/2:0}#room(place3){let p=this.nodes[place3],room=enough;
return this.grid.around(p.x,p.y,enough,i=>{let n=this.nodes[i];i!==place3&&(room=Math.min(room,Math.hypot(Math.max(0,Math.abs(n.x-p.x)-n.w/2),Math.max(0,Math.abs(
n.y-p.y)-n.h/2))))}),room}#bounds(){let box={left:1/0,top:1/0,right:-1/0,bottom:-1/0};for(let n of this.nodes)box.left=Math.min(box.left,n.x-n.w/2),box.right=Math.
max(box.right,n.x+n.w/2),box.top=Math.min(box.top,n.y-n.h/2),box.bottom=Math.max(box.bottom,n.y+n.h/2+(n.kind==="place"?30:0));for(let{box:way}of this.arcs)box.
left=Math.min(box.left,way.left),box.right=Math.max(box.right,way.right),box.top=Math.min(box.top,way.top),box.bottom=Math.max(box.bottom,way.bottom);return this.
nodes.length?box:{left:0,top:0,right:1,bottom:1}}};function measured2(arc,nodes){let from=nodes[arc.from],to=nodes[arc.to],points=arc.points?.length>=2?arc.points.
map(([x,y])=>[x,y]):[[from.x,from.y],[to.x,to.y]];points[0]=border(from,points[0],points[1]);let last=points.length-1;points[last]=border(to,points[last],points[last-
1]);let lengths=[0];for(let i=1;i<=last;i++)lengths.push(lengths[i-1]+Math.hypot(points[i][0]-points[i-1][0],points[i][1]-points[i-1][1]));let xs=points.map(p=>p[0]),
ys=points.map(p=>p[1]);return{...arc,points,lengths,length:lengths[last],box:{left:Math.min(...xs),right:Math.max(...xs),top:Math.min(...ys),bottom:Math.max(...ys)}}}
function border(node,end,other){let vx=other[0]-node.x,vy=other[1]-node.y;if(Math.hypot(end[0]-node.x,end[1]-node.y)>.3*Math.min(node.w,node.h))return end;if(node.
kind==="place"){let distance=Math.hypot(vx,vy),r=Math.min(node.w,node.h)/2;return distance>r?[node.x+vx/distance*r,node.y+vy/distance*r]:end}let share2=Math.min(
node.w/2/Math.abs(vx||1e-9),node.h/2/Math.abs(vy||1e-9));return share2<1?[node.x+vx*share2,node.y+vy*share2]:end}function work(node){return!node.role}var kinds2=["place","transition","instance"],ranges2=["6h","24h","7d"],views=["net","bpmn"],filters=["severity","of","alarm","acknowledged","silenced"];function parse(hash2){
let q=new URLSearchParams(hash2.replace(/^#/,"")),kind=kinds2.find(k=>q.has(k))??"",at2=Date.parse(q.get("at")??"");return{net:q.get("net")??"",kind,id:kind?q.get(
kind)??"":"",at:Number.isFinite(at2)?at2:0,range:ranges2.find(r=>r===q.get("range"))??"",compare:q.has("compare"),table:q.has("table"),view:views.find(v=>v===q.
get("view"))??"",quiet:q.has("quiet"),around:q.get("around")??"",steps:Math.max(1,Math.min(5,Math.round(Number(q.get("steps")))||1)),find:(q.get("q")??"").slice(
0,200),look:q.get("look")??"",filter:Object.fromEntries(filters.filter(f=>q.get(f)).map(f=>[f,q.get(f)]))}}function hash(where){let q=new URLSearchParams;where.
net&&q.set("net",where.net),where.kind&&q.set(where.kind,where.id),where.at&&q.set("at",new Date(where.at).toISOString()),where.at&&where.compare&&q.set("compar\
e",""),where.range&&q.set("range",where.range),where.table&&q.set("table","");for(let f of filters)where.filter[f]&&q.set(f,where.filter[f]);return where.view&&
q.set("view",where.view),where.quiet&&q.set("quiet",""),where.around&&(q.set("around",where.around),q.set("steps",String(where.steps))),where.find&&q.set("q",where.
find),where.look&&q.set("look",where.look),"#"+q.toString()}var Address=class extends EventTarget{constructor(){super(),this.where=parse(location.hash),addEventListener(
"popstate",()=>this.#take(parse(location.hash))),addEventListener("hashchange",()=>this.#take(parse(location.hash)))}go(change,replace){let next={...this.where,
...change};hash(next)!==hash(this.where)&&(replace?history.replaceState(null,"",hash(next)):history.pushState(null,"",hash(next)),this.#take(next))}#take(next){
if(hash(next)===hash(this.where))return;let before=this.where;this.where=next,this.dispatchEvent(new CustomEvent("change",{detail:before}))}};function looked({camera,model:model2,away:away2,seen:seen2,width:width3,height:height3}){if(!camera.touched||!model2.scene||away2||model2.where.around)return"";
let[x,y]=camera.toWorld(width3/2,height3/2),best=-1,nearest=1/0;model2.scene.nodes.forEach((n,i)=>{let distance=seen2(i)?Math.hypot(n.x-x,n.y-y):1/0;distance<nearest&&
([best,nearest]=[i,distance])});let node=model2.scene.nodes[best];return node?`${Number(camera.scale.toPrecision(3))} ${node.kind} ${node.id}`:""}function lookThere(model2,stage2){
model2.on("drawing",()=>{let{scene,where,address:address2}=model2;if(!scene||!where.look)return;let[scale,kind,...id]=where.look.split(" "),n=scene.nodes[scene.
find(kind,id.join(" "))];n&&Number(scale)>0&&stage2.lookAt(n.x,n.y,Number(scale)),address2.go({look:""},!0)})}var round=n=>Math.round(n*100)/100,SvgPen=class{constructor(){this.root=svg("g",null),this.fillStyle=this.strokeStyle="#000",this.lineWidth=this.globalAlpha=1,this.
lineCap="butt",this.lineJoin="miter",this.font="10px sans-serif",this.textAlign=this.textBaseline="",this.dash=[],this.path=[],this.ruler=document.createElement(
"canvas").getContext("2d")}setLineDash(dash){this.dash=dash}beginPath(){this.path=[]}moveTo(x,y){this.path.push(`M${round(x)} ${round(y)}`)}lineTo(x,y){this.path.
push(`L${round(x)} ${round(y)}`)}arc(x,y,r,from,to){let at2=a=>`${round(x+r*Math.cos(a))} ${round(y+r*Math.sin(a))}`,way=(a,b)=>`A${round(r)} ${round(r)} 0 ${b-
a>Math.PI?1:0} 1 ${at2(b)}`,middle2=(from+to)/2;this.path.push(`${this.path.length?"L":"M"}${at2(from)}${way(from,middle2)}${way(middle2,to)}`)}rect(x,y,w,h){this.
path.push(`M${round(x)} ${round(y)}h${round(w)}v${round(h)}h${round(-w)}z`)}roundRect(x,y,w,h,r){r=round(Math.min(r,w/2,h/2));let side=[round(w-2*r),round(h-2*r)];
this.path.push(`M${round(x+r)} ${round(y)}h${side[0]}a${r} ${r} 0 0 1 ${r} ${r}v${side[1]}a${r} ${r} 0 0 1 ${-r} ${r}h${-side[0]}a${r} ${r} 0 0 1 ${-r} ${-r}v${-side[1]}\
a${r} ${r} 0 0 1 ${r} ${-r}z`)}fill(){this.#add("path",{d:this.path.join(""),fill:this.fillStyle})}stroke(){this.#add("path",{d:this.path.join(""),...this.#line()})}fillRect(x,y,width3,height3){
this.#add("rect",{x:round(x),y:round(y),width:round(width3),height:round(height3),fill:this.fillStyle})}fillText(text4,x,y){this.#text(text4,x,y,{fill:this.fillStyle})}strokeText(text4,x,y){
this.#text(text4,x,y,this.#line())}measureText(text4){return this.ruler.font=this.font,this.ruler.measureText(text4)}#line(){return{fill:"none",stroke:this.strokeStyle,
"stroke-width":round(this.lineWidth),"stroke-linecap":this.lineCap,"stroke-linejoin":this.lineJoin,"stroke-dasharray":this.dash.length?this.dash.join(" "):null}}#text(text4,x,y,paint2){
let[,weight,size3,family]=/^(\d+ )?([\d.]+)px (.*)$/.exec(this.font);this.#add("text",{x:round(x),y:round(y),"text-anchor":"middle","dominant-baseline":"central",
"font-family":family,"font-size":size3,"font-weight":weight?.trim(),...paint2},text4)}#add(tag2,attributes,text4){attributes.d!==""&&this.root.append(svg(tag2,{
...attributes,opacity:this.globalAlpha<1?round(this.globalAlpha):null},text4))}};var captionHeight=26,finest2=2,largest=8192,styles=["fill","stroke","stroke-width","stroke-dasharray","stroke-linecap","stroke-linejoin","fill-opacity","stroke-\
opacity","opacity","marker-start","marker-mid","marker-end","font-family","font-size","font-weight","font-style","text-anchor","dominant-baseline"];function picture(model2,stage2,bpmn2){
let{width:width3,height:height3}=model2.bpmn?bpmn2:stage2,{palette}=stage2.painter,caption=svg("text",{x:10,y:height3+captionHeight/2,"dominant-baseline":"centr\
al","font-family":"system-ui, sans-serif","font-size":12,fill:palette.quiet},words2(model2,stage2));return svg("svg",{xmlns:"http://www.w3.org/2000/svg",width:width3,
height:height3+captionHeight,viewBox:`0 0 ${width3} ${height3+captionHeight}`},svg("title",null,words2(model2,stage2)),svg("rect",{width:width3,height:height3+captionHeight,
fill:palette.ground}),svg("svg",{width:width3,height:height3},model2.bpmn?diagram(bpmn2.root):net(stage2)),caption)}function words2(model2,stage2){let{net:net2,
where,shown:shown3,scene}=model2,called3=net2?label(net2):visible(where.net),moment3=ms=>new Date(ms).toISOString().replace(/\.\d+Z$/,"Z"),parts2=[short(called3,
80),...called3===where.net?[]:[short(visible(where.net),80)],moment3(shown3?.at??model2.now())];if(model2.comparing&&parts2.push(`compared with ${moment3(model2.
clock.now())}`),!model2.bpmn&&scene){let center=centerOf(model2),silent2=stage2.marks.filter(m=>m===1).length;center>=0&&parts2.push(`${plural(where.steps,"step")}\
 around ${label(scene.nodes[center])}`),silent2&&parts2.push(`${plural(silent2,"quiet node")} collapsed`)}return parts2.join(" · ")}function net(stage2){let pen=new SvgPen,
painter=new Painter(pen,stage2.painter.palette),{scene,shown:shown3}=stage2.model,view=stage2.view();return scene&&painter.paint(scene,shown3,view),stage2.model.
comparing&&paintChanges(pen,painter.palette,stage2.model,view),stage2.chosen(painter),pen.root}function diagram(root){let box=root.getBoundingClientRect(),drawn=root.
querySelector(".djs-container > svg"),out=svg("g",null,...[...drawn.children].map(c=>copy(c,!1)));for(let badge2 of root.querySelectorAll(".djs-overlays :is(.st\
ate, .rate)"))out.append(...flat(badge2,box));let mark2=root.querySelector(".bjs-powered-by svg");if(mark2){let at2=mark2.getBoundingClientRect();out.append(...flat(
mark2.closest(".bjs-powered-by"),box),svg("svg",{x:at2.left-box.left,y:at2.top-box.top,width:at2.width,height:at2.height,viewBox:mark2.getAttribute("viewBox")},
...[...mark2.children].map(c=>copy(c,!1))))}return out}function copy(from,hidden){let style=getComputedStyle(from),defines=hidden||["defs","marker","clipPath"].
includes(from.tagName);if(!defines&&(style.display==="none"||style.visibility==="hidden"||from.matches(".djs-hit, .djs-outline, title, foreignObject")))return null;
let to=document.createElementNS("http://www.w3.org/2000/svg",from.tagName);for(let{name:name2,value}of from.attributes)/^(style|class|data-.*|on.*|(xlink:)?href)$/.
test(name2)||name2==="id"&&!defines||to.setAttribute(name2,value);if(!from.matches("g, defs, svg"))for(let property of styles){let value=style.getPropertyValue(
property);(value&&value!=="none"||property==="fill")&&to.setAttribute(property,value.replaceAll('"',"'"))}for(let child of from.childNodes)if(child instanceof Element){
let inner=copy(child,defines);inner&&to.append(inner)}else child.nodeType===Node.TEXT_NODE&&to.append(child.cloneNode());return to}function flat(element2,within){
let box=element2.getBoundingClientRect();if(!box.width||!element2.checkVisibility()||box.right<within.left||box.left>within.right||box.bottom<within.top||box.top>
within.bottom)return[];let scale=box.width/element2.offsetWidth,ground=getComputedStyle(element2),out=[svg("rect",{x:box.left-within.left,y:box.top-within.top,width:box.
width,height:box.height,fill:ground.backgroundColor,rx:Math.min(box.height/2,parseFloat(ground.borderTopLeftRadius)*scale||0)})];for(let text4 of[element2,...element2.
querySelectorAll("*")].flatMap(e=>[...e.childNodes]).filter(n=>n.nodeType===Node.TEXT_NODE&&n.textContent)){let range=document.createRange();range.selectNodeContents(
text4);let at2=range.getBoundingClientRect(),style=getComputedStyle(text4.parentElement);at2.width&&out.push(svg("text",{x:at2.left+at2.width/2-within.left,y:at2.
top+at2.height/2-within.top,"text-anchor":"middle","dominant-baseline":"central",fill:style.color,"font-family":style.fontFamily.replaceAll('"',"'"),"font-size":parseFloat(
style.fontSize)*scale,"font-weight":style.fontWeight},text4.textContent))}return out}function xml(drawn){return new XMLSerializer().serializeToString(drawn).replace(
/[\ufffe\uffff]/g,"�")}function asSVG(drawn){return new Blob([xml(drawn)],{type:"image/svg+xml"})}async function asPNG(drawn){let[width3,height3]=["width","he\
ight"].map(a=>Number(drawn.getAttribute(a))),scale=Math.min(finest2,largest/Math.max(width3,height3)),image=new Image;image.src="data:image/svg+xml,"+encodeURIComponent(
xml(drawn)),await image.decode();let canvas2=document.createElement("canvas");return canvas2.width=Math.round(width3*scale),canvas2.height=Math.round(height3*scale),
canvas2.getContext("2d").drawImage(image,0,0,canvas2.width,canvas2.height),new Promise((done,fail)=>canvas2.toBlob(blob=>blob?done(blob):fail(new Error("the pic\
ture is too large for this browser")),"image/png"))}var Share=class{constructor(model2,stage2,bpmn2){Object.assign(this,{model:model2,stage:stage2,bpmn:bpmn2}),this.model=model2,this.stage=stage2,this.bpmn=bpmn2,
this.at=0,this.link=el("input",{type:"text",id:"share-link",readonly:!0,"aria-label":"Link to what is shown",onfocus:()=>this.link.select()}),this.fixed=el("inp\
ut",{type:"checkbox",id:"share-fixed",onchange:()=>this.#address()}),this.moment=el("span",{class:"num"}),this.said=el("p",{class:"said",role:"status"}),this.pictures=
el("div",{class:"choices"},this.#button("png","PNG",()=>this.#picture("png")),this.#button("svg","SVG",()=>this.#picture("svg"))),this.stuck=this.#button("stuck",
"",()=>this.#table("stuck")),this.dialog=byId("share"),this.dialog.append(el("h2",{id:"share-title"},"Link"),el("div",{class:"choices"},this.link,this.#button("\
copy","Copy link",()=>this.#copy())),el("label",{class:"fixed"},this.fixed," to this moment, ",this.moment,el("span",{class:"quiet"},", for as long as the serve\
r keeps it")),el("h2",null,"Picture of what is shown"),this.pictures,el("h2",null,"Tables (CSV)"),el("div",{class:"choices"},this.#button("places","Places",()=>this.#table(
"places")),this.#button("transitions","Transitions",()=>this.#table("transitions")),this.stuck,this.#button("alarms","Alarms",()=>this.#table("alarms"))),this.said,
el("button",{type:"button",onclick:()=>this.dialog.close()},"Close")),model2.on("drawing",()=>this.#allow())}#button(key4,text4,onclick){return el("button",{type:"\
button","data-key":key4,onclick},text4)}open(){let{model:model2}=this;this.at=model2.where.at||(model2.current?model2.current.at+1:0),this.fixed.checked=!!model2.
where.at,this.fixed.disabled=!this.at||this.fixed.checked,say(this.moment,this.at?clock(this.at):"–"),say(this.stuck,model2.where.kind==="place"?"Instances wa\
iting in this place":"Waiting instances"),say(this.said,model2.where.table?"A picture is of the drawing, not of the table.":""),this.#address(),this.#allow(),this.
dialog.showModal(),this.link.focus()}#allow(){let{scene,where}=this.model;for(let button2 of this.pictures.children)button2.disabled=!scene||where.table}#address(){
let{where}=this.model;this.link.value=new URL(hash({...where,at:this.fixed.checked?this.at:where.at,look:looked(this.stage)}),location.href).href}async#copy(){say(
this.said,await copied(this.link)?"Copied.":"This browser does not copy here: press Ctrl+C.")}#picture(kind){this.#give(async()=>{let drawn=picture(this.model,this.
stage,this.bpmn);return{blob:kind==="png"?await asPNG(drawn):asSVG(drawn),name:`${fileName(this.model)}.${kind}`,lacks:""}})}#table(what){let{net:net2,at:at2,kind,
id,filter}=this.model.where,{of="",...rest2}=filter,then2=at2?{at:new Date(at2).toISOString()}:{},queries={places:{net:net2,...then2},transitions:{net:net2,...then2},
stuck:kind==="place"?{net:net2,place:id}:{net:net2},alarms:of?{...rest2,net:of}:rest2};this.#give(()=>download(`${what}.csv`,queries[what]))}async#give(make){say(
this.said,"making it …"),say(this.said,await given(make))}};async function given(make){try{let{blob,name:name2,lacks}=await make(),href=URL.createObjectURL(blob);
return el("a",{href,download:name2}).click(),setTimeout(()=>URL.revokeObjectURL(href),6e4),visible(`Saved as ${name2}.${lacks&&` There may be more: ${lacks}.`}`)}catch(error){
return`Not saved: ${error instanceof Error?error.message:String(error)}`}}async function copied(input){try{return await navigator.clipboard.writeText(input.value),
!0}catch{return input.focus(),input.select(),document.execCommand("copy")}}function fileName({where,shown:shown3,clock:time}){let id=Array.from(where.net.replace(
/[^\p{L}\p{M}\p{N}._]/gu,"-")).slice(0,64).join("").replace(/^[-.]+|[-.]+$/g,""),at2=new Date(shown3?.at??time.now()).toISOString().replace(/\.\d+Z$/,"Z").replace(
/[-:]/g,"");return`${id||"net"}-${at2}`}function badge(seconds,scale){let element2=el("span",{class:"badge num"},age(seconds));return element2.style.setProperty("--fill",scale.fill(heat(seconds))),element2.
style.setProperty("--on-fill",scale.ink(heat(seconds))),element2}function waits(list,model2){return list?.length?el("ul",{class:"waits"},...list.map(w=>el("li",
{title:w.reason},w.transition&&el("button",{type:"button",class:"link-like",onclick:()=>model2.select("transition",w.transition??"")},name(called2(model2,"trans\
ition",w.transition),w.transition)),w.transition&&": ",w.text||[w.reason,w.place&&called2(model2,"place",w.place)].filter(Boolean).join(" "),w.until&&el("span",
{class:"num"},` ${due(w.until,model2)}`),w.reason==="manual"&&about3(model2,w.transition)))):null}function data(fields2){if(!fields2)return null;let text4=value=>typeof value==
"string"?value:JSON.stringify(value);return el("span",{class:"data quiet"},...Object.entries(fields2).flatMap(([field,value],i)=>[i>0&&" · ",el("span",null,name(
field)," ",el("b",null,name(text4(value))))]))}function called2(model2,kind,id){let node=model2.scene?.nodes[model2.scene.find(kind,id)];return node?label(node):
id}function about3(model2,transition3=""){let doc=model2.scene?.nodes[model2.scene.find("transition",transition3)]?.doc;return doc&&el("span",{class:"quiet"},` \
– ${short(doc,200)}`)}function due(until,model2){let at2=Date.parse(until),left=(at2-model2.clock.now())/1e3;return left>0?`until ${moment(at2)} (in ${age(left)}\
)`:`since ${moment(at2)} it is due`}var rows=50,ages=[[0,"any age"],[60,"1 minute and more"],[600,"10 minutes and more"],[3600,"1 hour and more"],[86400,"1 day and more"]],Instances=class{constructor(model2,scale,place3,wanted=""){
this.model=model2,this.scale=scale,this.pages=[""],this.next="",this.name=el("input",{type:"search",placeholder:"instance name","aria-label":"Part of the name o\
f the instance",autocomplete:"off"}),this.data=el("input",{type:"search",placeholder:"data, like id=47","aria-label":"Part of the data of the token",autocomplete:"\
off",value:wanted}),this.place=select("Place",[["","all places"],...this.#places()],place3),this.older=select("Age",ages.map(([s,text4])=>[String(s),String(text4)]),
"0"),this.said=el("p",{class:"quiet",role:"status"});let past3=model2.moment&&el("p",{class:"note"},"These are the instances that wait now: those of the past ar\
e not kept.");this.body=el("tbody",null),this.back=el("button",{type:"button",onclick:()=>this.#turn(-1)},"‹ older"),this.on=el("button",{type:"button",onclick:()=>this.#turn(
1)},"younger ›");let head=["instance","age","place","since","waits for"].map(h=>el("th",{scope:"col"},h)),form=el("form",{class:"chooser"},this.name,this.data,
this.place,this.older);this.dialog=el("dialog",{class:"instances","aria-labelledby":"instances-title"},el("h2",{id:"instances-title"},"Waiting instances"),past3,
form,this.said,el("div",{class:"table",tabindex:0,role:"region","aria-label":"Waiting instances"},el("table",null,el("thead",null,el("tr",null,...head)),this.body)),
el("div",{class:"pager"},this.back,this.on,el("button",{type:"button",class:"csv",onclick:()=>this.#save()},"Save all as CSV"),el("button",{type:"button",onclick:()=>this.
dialog.close()},"Close"))),form.addEventListener("submit",event=>event.preventDefault()),form.addEventListener("input",()=>this.#first()),this.dialog.addEventListener(
"close",()=>this.dialog.remove()),this.body.addEventListener("click",event=>event.target.closest("button")&&this.dialog.close()),this.asked=null}#places(){let{scene}=this.
model;return scene?.nodes.slice(0,scene.placeCount).filter(n=>!n.final&&work(n)).map(n=>[n.id,label(n)])??[]}open(){document.body.append(this.dialog),this.dialog.
showModal(),(this.data.value?this.data:this.name).focus(),this.#show()}#first(){this.pages=[""],this.#show()}#turn(step){step>0?this.pages.push(this.next):this.
pages.pop(),this.#show()}#query(){return{net:this.model.where.net,place:this.place.value,name:this.name.value.trim(),data:this.data.value.trim(),older:this.older.
value}}async#save(){say(this.said,await given(()=>download("stuck.csv",this.#query())))}async#show(){this.asked?.abort();let asked=this.asked=new AbortController;
try{let answer2=await ask("stuck",{...this.#query(),limit:String(rows),after:this.pages[this.pages.length-1]},asked.signal);this.next=answer2.next??"",this.body.
replaceChildren(...answer2.tokens.map(t=>this.#row(t))),say(this.said,this.#summary(answer2))}catch(error){asked.signal.aborted||say(this.said,`No instances: ${error instanceof
Error?error.message:String(error)}`)}this.back.disabled=this.pages.length<2,this.on.disabled=!this.next}#summary({matches:matches2,tokens,bounded,left_out:leftOut,
unanswered}){let first=(this.pages.length-1)*rows,all=`${count(matches2)}${bounded?" or more":""}`,shown3=tokens.reduce((sum2,t)=>sum2+t.tokens,0)===tokens.length?
`of ${all}`:`with ${all} tokens in all`,parts2=[tokens.length?`${first+1} to ${first+tokens.length} ${shown3}, the oldest first`:"none"];return!tokens.length&&this.
data.value.trim()&&parts2.push("an engine shows only the data that its configuration names"),unanswered&&parts2.push(`without ${plural(unanswered.length,"source")}\
 that did not answer: ${unanswered.slice(0,5).join(", ")}`),leftOut&&parts2.push("not all places were asked: choose one"),parts2.join("; ")}#row(t){return el("t\
r",null,el("th",{scope:"row"},el("button",{type:"button",class:"link-like",onclick:()=>this.model.select("instance",t.instance)},name(t.instance)),t.tokens>1&&`\
 ×${count(t.tokens)}`,data(t.data)),el("td",null,badge(t.age_seconds,this.scale)),el("td",null,name(called2(this.model,"place",t.place),t.place)),el("td",{class:"\
num"},moment(Date.parse(t.injected))),el("td",null,waits(t.waits,this.model)))}};function select(title,options,value){return el("select",{"aria-label":title},...options.
map(([v,text4])=>el("option",{value:v,selected:v===value},text4)))}var arrows=Object.freeze({ArrowLeft:[-1,0],ArrowRight:[1,0],ArrowUp:[0,-1],ArrowDown:[0,1]});function shortcuts(actions2){addEventListener("keydown",event=>{let target=event.
target;if(event.defaultPrevented||event.ctrlKey||event.metaKey||event.altKey||target.closest("dialog[open], :is(input:not([type=range]), select):not(dialog *)"))
return;let action=actions2[event.key];action&&(event.preventDefault(),action())})}function walk(root,stage2,announce){root.addEventListener("keydown",event=>{if(event.
ctrlKey||event.metaKey||event.altKey||event.target!==root)return;let direction=arrows[event.key];if(direction){let there2=stage2.step(...direction);there2&&announce(
there2)}else if(event.key==="Enter"||event.key===" ")stage2.open();else return;event.preventDefault()});for(let type of["focus","blur"])root.addEventListener(type,
()=>stage2.repaint())}var fields=new Map(Object.entries({severity:{title:"Severity",of:a=>a.severity,say:v=>v},of:{title:"Net",of:a=>a.net??"",say:(v,alarms)=>alarms.find(a=>a.net===
v)?.net_name||v},alarm:{title:"Kind",of:a=>a.alarm,say:v=>kindName(v)},acknowledged:{title:"Acknowledged",of:a=>a.acknowledged?"yes":"no",say:v=>v},silenced:{title:"\
Silenced",of:a=>a.silenced_until?"yes":"no",say:v=>v}}));function matches(a,chosen){return Object.entries(chosen).every(([key4,value])=>fields.get(key4)?.of(a)===
value)}var Filter=class{constructor(model2){this.model=model2,this.summary=el("summary",null),this.selects=new Map;let rows2=[...fields].map(([key4,field])=>{let select2=el(
"select",{name:key4,onchange:()=>this.#choose(key4,select2.value)});return this.selects.set(key4,select2),el("label",null,field.title,select2)});this.clear=el("\
button",{type:"button",class:"link-like",onclick:()=>model2.address.go({filter:{}})},"Show all"),this.root=el("details",{class:"filter"},this.summary,...rows2,this.
clear)}show(alarms,shown3){let chosen=this.model.where.filter,active=Object.keys(chosen).length>0;this.root.hidden=!active&&alarms.length<2,this.clear.hidden=!active;
let words3=Object.entries(chosen).map(([key4,value])=>`${fields.get(key4)?.title.toLowerCase()} ${fields.get(key4)?.say(value,alarms)}`);say(this.summary,active?
`${shown3} of ${alarms.length} shown: ${words3.join(", ")}`:"Filter");for(let[key4,select2]of this.selects)this.#options(key4,select2,alarms,chosen[key4]??"")}#options(key4,select2,alarms,value){
let field=fields.get(key4),values=[...new Set([...alarms.map(field.of),value])].filter(Boolean).sort((a,b)=>grades2.indexOf(a)-grades2.indexOf(b)||a.localeCompare(
b)),state=JSON.stringify(values);select2.dataset.values!==state&&(select2.dataset.values=state,select2.replaceChildren(el("option",{value:""},"all"),...values.map(
v=>el("option",{value:v},field.say(v,alarms))))),select2.value!==value&&(select2.value=value)}#choose(key4,value){let{[key4]:_,...rest2}=this.model.where.filter;
this.model.address.go({filter:value?{...rest2,[key4]:value}:rest2})}};var most2=200,AlarmRows=class{constructor(model2,report){this.model=model2,this.notes=new Notes(report),this.opened=new Set,this.groups=new Map}select(alarms){let{
net:net2,filter}=this.model.where;return alarms.filter(a=>matches(a,filter)).sort(urgency(net2))}show(...lists2){this.groups.clear();for(let[list,groups]of lists2)
this.#fill(list,groups)}#fill(list,groups){for(let g of groups)this.groups.set(g.key,g);let shown3=groups.slice(0,most2),rest2=groups.length-shown3.length,actions2=this.
model.actions,rows2=rest2?[...shown3,null]:shown3;syncRows(list,rows2,g=>g?`${g.parts.length>1} ${g.parts.length>1?g.key:[g.alarms[0].index,g.alarms[0].since,g.
alarms[0].changed,about(g.alarms[0])].join(" ")} ${actions2}`:"more",g=>g?g.parts.length>1?this.#makeGroup(g.key):this.#make(g.alarms[0]):el("li",{class:"quiet \
more"}),(row2,g)=>g?g.parts.length>1?this.#updateGroup(row2,g):this.#update(row2,g.alarms[0]):say(row2,`and ${rest2} more`))}#makeGroup(key4){let row2=el("li",{
class:"group"},el("button",{type:"button",class:"row alarm","aria-expanded":"false",onclick:()=>{this.opened.delete(key4)||this.opened.add(key4),this.model.dispatchEvent(
new Event("overview"))}},el("span",{class:"mark",role:"img"}),el("span",{class:"title"},el("strong",{class:"num"})," ",name("")),el("span",{class:"age num",title:"\
time since the condition of the oldest began"}),el("span",{class:"text"}),el("span",{class:"text noted"})));return this.model.actions&&row2.append(this.notes.buttons(
this.#subjectOf(key4))),row2}#filtered(){return Object.keys(this.model.where.filter).length>0}#subjectOf(key4){return{alarms:()=>this.groups.get(key4)?.alarms.slice(
0,1e3)??[],of:this.groups.get(key4)?.of??null,lost:this.#filtered()?"":this.groups.get(key4)?.lost}}#updateGroup(row2,g){let open=this.opened.has(g.key),button2=row2.
firstElementChild;button2.setAttribute("aria-expanded",String(open)),say(part(row2,".num"),g.count?String(g.count):""),titled(part(row2,".name"),g.title,g.id);let causes2=g.
alarms.some(a=>!a.follows)?g.alarms.filter(a=>!a.follows):g.alarms,worst=causes2.reduce((w,a)=>Math.min(w,grades2.indexOf(a.severity)),grades2.length-1);marked2(
part(row2,".mark"),{severity:grades2[worst],unknown:g.alarms.every(a=>a.unknown)?g.text:""});let ages2=causes2.map(a=>this.#now(a)-Date.parse(a.since));say(part(
row2,".age"),age(Math.max(...ages2)/1e3)),say(part(row2,".text"),g.text),part(row2,".text").hidden=!g.text,say(part(row2,".noted"),summary(g.alarms,this.model.at)),
button2.classList.toggle("silenced",g.alarms.every(a=>a.silenced_until));let acts=row2.querySelector(":scope > .acts");acts&&this.notes.update(acts,this.#subjectOf(
g.key));let inner=row2.querySelector(":scope > ul");if(!open)return inner?.remove();inner||row2.append(inner=el("ul",{class:"inner"})),this.#fill(inner,g.parts)}#make(a){
let current=()=>this.model.overview?.alarms.filter(other=>other.index===a.index)??[];return el("li",null,el("button",{type:"button",class:"row alarm",onclick:()=>this.#go(
a)},el("span",{class:"mark",role:"img"}),el("span",{class:"title"},name("")),el("span",{class:"age num",title:"time since its condition began"}),el("span",{class:"\
text"}),el("span",{class:"text noted"})),this.model.actions&&this.notes.buttons({alarms:current,of:{alarm:a.alarm,net:a.net,place:a.place,transition:a.transition,
source:a.source}}))}#update(row2,a){marked2(part(row2,".mark"),a),say(part(row2,".age"),age((this.#now(a)-Date.parse(a.since))/1e3)),say(part(row2,".text"),words(
a)),row2.title=visible(a.text),titled(part(row2,".name"),subject(a),about2(a)||a.net||"");let elsewhere=a.net&&about2(a)&&a.net!==this.model.where.net&&!row2.closest(
".group")?`${a.net_name||a.net} · `:"",changed=a.changed?`${a.changed} since ${when(this.model.at)} · `:"";say(part(row2,".noted"),elsewhere+changed+notes(a)),
part(row2,".row").dataset.changed=a.changed??"",part(row2,".row").classList.toggle("silenced",!!a.silenced_until);let acts=row2.querySelector(".acts");acts&&this.
notes.update(acts,{alarms:()=>[a],of:null})}#now(a){return a.changed==="new"?this.model.clock.now():this.model.now()}makeSilence(s){let what=[s.alarm,s.net,s.place,
s.transition,s.source].filter(Boolean).join(" ");return el("li",{class:"row silence"},el("span",{class:"mark","aria-hidden":"true"},"∅"),el("span",{class:"tit\
le"},name(what)),this.model.actions?el("button",{type:"button",class:"link-like",onclick:()=>this.notes.end(s.id)},"End"):el("span",null),el("span",{class:"text"},
`until ${moment(Date.parse(s.until))} by ${s.by}${s.comment?`: ${s.comment}`:""}`))}#go(a){let kind=a.place?"place":a.transition?"transition":"";this.model.address.
go({net:a.net??this.model.where.net,kind,id:a.place??a.transition??""})}};function part(row2,selector){return row2.querySelector(selector)}function titled(node,text4,id){
say(node,text4),node.title=visible(id)}function marked2(node,a){let[sign,kind,words3]=signOf(a);say(node,sign),node.className="mark "+kind,node.setAttribute("ar\
ia-label",words3),node.title=words3}function summary(alarms,at2){let parts2=grades2.map(grade=>[alarms.filter(a=>a.severity===grade).length,grade]);for(let changed of[
"new","gone"])parts2.push([alarms.filter(a=>a.changed===changed).length,`${changed} since ${when(at2)}`]);return parts2.push([alarms.filter(a=>a.follows).length,
"following from a lost source"]),parts2.push([alarms.filter(a=>a.acknowledged).length,"acknowledged"],[alarms.filter(a=>a.silenced_until).length,"silenced"]),parts2.
filter(([n])=>n).map(p=>p.join(" ")).join(" · ")}function grouped(alarms,before=""){let causes2=new Set(alarms.filter(a=>a.alarm==="sourceLost").map(a=>a.source)),following=split(alarms.filter(a=>a.follows),a=>a.
follows??""),rest2=following.filter(([source2])=>!causes2.has(source2)).map(([source2,list])=>folded(source2,void 0,list,before));return[...byNet(alarms.filter(
a=>!a.follows),new Map(following),before),...rest2]}function byNet(alarms,following,before){return split(alarms,a=>a.net??"").map(([net2,list])=>ofNet(net2,list,
following,before))}function doubted(alarms){return split(alarms,a=>a.lost||a.follows||a.unknown||"").map(([why,list])=>{let lost=list[0].lost||list[0].follows||
"",key4=`unknown ${why}`,parts2=grouped(list,key4+`
`),count2=list.filter(a=>!a.follows).length,cause=list.find(a=>a.alarm==="sourceLost"),reasons=cause?[cause.unknown]:[...new Set(list.map(a=>a.unknown))],text4=`\
Unknown: ${reasons.slice(0,3).join("; ")}${reasons.length>3?"; …":""}`;return{...group(key4,lost||"Not reported any more",lost,list,null,parts2.length===1?parts2[0].
parts:parts2),text:text4,count:count2,lost}})}function ofNet(net2,list,following,before){if(list.length===1)return single(list[0],following,before);let kinds3=split(
list,a=>a.alarm),of=net2?{net:net2}:null,parts2=kinds3.length===1?[]:kinds3.map(([kind,some])=>some.length===1?single(some[0],following,before):group(`${before}${net2}\

${kind}`,kindName(kind,some.length),kind,some,{...of,alarm:kind},some.map(a=>single(a,following,before)))),text4=kinds3.map(([kind,some])=>`${some.length} ${kindName(
kind,some.length)}`).join(", "),only=kinds3.length===1?{...of,alarm:kinds3[0][0]}:of;return{...group(before+net2,list[0].net_name||net2||"Sources",net2,list,only,
parts2.length?parts2:list.map(a=>single(a,following,before))),text:text4}}function single(a,following,before){let list=a.alarm==="sourceLost"?following.get(a.source??
""):void 0;return list?folded(a.source??"",a,list,before):group(`${before}${a.index}`,"","",[a],null,[])}function folded(source2,cause,list,before){let key4=`${before}\
follows ${source2}`,parts2=byNet(list,new Map,key4+`
`),text4=cause?`${words(cause)} · ${list.length} follow from it`:`${list.length} that follow from this lost source`,all=cause?[cause,...list]:list,inner=cause?
[group(`${before}${cause.index}`,"","",[cause],null,[]),...parts2]:parts2.length===1?parts2[0].parts:parts2;return{...group(key4,source2,source2,all,cause?{alarm:"\
sourceLost",source:source2}:null,inner),text:text4,count:0}}function group(key4,title,id,alarms,of,parts2){return{key:key4,title,id,text:"",count:alarms.length,
alarms,parts:alarms.length>1?parts2:[],of,lost:""}}function split(alarms,by){let out=new Map;for(let a of alarms){let list=out.get(by(a));list?list.push(a):out.
set(by(a),[a])}return[...out]}var nothing=Object.freeze({nets:[],sources:[],alarms:[],silences:[]}),most3=200,Lists=class{constructor(model2,root){this.model=model2,this.alarms=section("Alar\
ms"),this.alarms.root.className="first",this.filter=new Filter(model2),this.alarms.list.before(this.filter.root),this.doubts=section("Unknown alarms"),this.end=
el("p",{class:"quiet more"}),this.doubts.list.before(this.end),this.silences=section("Silences"),this.nets=section("Nets"),this.sources=section("Sources"),this.
sources.list.tabIndex=0;let trouble=el("p",{class:"note",role:"alert",hidden:!0});this.note=el("p",{class:"note past-note",hidden:!0}),this.rows=new AlarmRows(model2,
words3=>{trouble.hidden=!words3,say(trouble,words3)}),root.append(trouble,this.note,this.alarms.root,this.doubts.root,this.silences.root,this.nets.root,this.sources.
root),model2.on("overview address link drawing",()=>this.show()),setInterval(()=>document.visibilityState==="visible"&&this.show(),1e3)}show(){let{model:model2}=this,
{where,latest,comparing}=model2;if(!latest)return;let overview=model2.overview??nothing;this.#note();let here=x=>x.net===where.net?0:1,active=comparing?alarmsOfBoth(
overview.alarms,latest.alarms):overview.alarms,nets=comparing?listOfBoth(overview.nets,latest.nets,n=>n.id):overview.nets,sources=(comparing?listOfBoth(overview.
sources,latest.sources,s=>`${s.net}
${s.name}`):[...overview.sources]).sort((a,b)=>here(a)-here(b)||a.net.localeCompare(b.net)||a.name.localeCompare(b.name));this.#alarms(overview,active),this.silences.
root.hidden=overview.silences.length===0,this.#fill(this.silences,overview.silences,overview.silences_left_out,s=>`${s.id} ${model2.actions}`,s=>this.rows.makeSilence(
s),()=>{}),this.#fill(this.nets,nets,0,n=>n.id,n=>this.#net(n),(row2,n)=>this.#showNet(row2,n)),this.#fill(this.sources,sources,overview.sources_left_out,s=>`${s.
net}
${s.name}`,source,(row2,s)=>this.#showSource(row2,s))}#alarms(overview,active){let{root,list,more:more2,count:number}=this.alarms,leftOut=overview.alarms_left_out??
0,shown3=this.rows.select(active);this.filter.show(active,shown3.length),root.hidden=active.length===0&&this.filter.root.hidden;let isUnknown=a=>!!a.unknown;this.
rows.show([list,grouped(shown3.filter(a=>!a.unknown))],[this.doubts.list,doubted(shown3.filter(isUnknown))]);let latest=this.model.latest,sum2=of=>this.model.comparing?
both(of(overview),of(latest)):String(of(overview)),own=alarms=>alarms.filter(a=>!a.follows).length;say(number,sum2(o=>own(o.alarms.filter(a=>!a.unknown))+(o.alarms_left_out??
0))),say(this.doubts.count,sum2(o=>own(o.alarms.filter(isUnknown)))),this.doubts.root.hidden=!active.some(isUnknown),say(this.end,`Their sources are lost, so it\
 is not known whether these alarms still hold. They end once their source reports again or stops cleanly. If it never comes back, close them${this.model.actions?
"":": pnagent alarms close"}.`),more2.hidden=!leftOut,say(more2,`and ${leftOut} more, see pnagent alarms`)}#note(){let{model:model2}=this,{moment:moment3,latest}=model2,
words3=moment3?moment3.asking&&!moment3.overview?"asking …":moment3.overview?latest?.actions?"Alarms of the past cannot be acknowledged or silenced.":"":"Nets\
, alarms and sources of this moment are not shown: there is no data.":"";this.note.hidden=!words3,say(this.note,words3)}#fill(section2,items,leftOut,key4,make,update){
let all=items.length+(leftOut??0);syncRows(section2.list,items.slice(0,most3),key4,make,update),say(section2.count,String(all)),section2.more.hidden=all<=Math.min(
most3,items.length),say(section2.more,section2.more.hidden?"":`and ${all-Math.min(most3,items.length)} more`)}#net(n){return el("li",null,el("button",{type:"but\
ton",class:"row net",onclick:()=>this.model.openNet(n.id)},el("span",{class:"mark",role:"img"}),el("span",{class:"title"},name(label(n),n.id)),el("span",{class:"\
age num",title:"age of the oldest token"}),el("span",{class:"text"})))}#showNet(row2,n){let button2=row2.firstElementChild;n.id===this.model.where.net?button2.setAttribute(
"aria-current","true"):button2.removeAttribute("aria-current");let mark2=row2.querySelector(".mark"),[sign,kind,words3]=health2(n,this.model.overview);say(mark2,
sign),mark2.className="mark "+kind,mark2.setAttribute("aria-label",words3),mark2.title=words3,row2.classList.toggle("old",!n.sources_up);let{model:model2}=this,
passed=model2.passed();say(row2.querySelector(".age"),n.oldest_age_seconds==null?n.tokens===0?"empty":"–":age(n.oldest_age_seconds+passed));let later=model2.comparing&&
!n.changed?model2.latest?.nets.find(other=>other.id===n.id)??n:n,parts2=[...since(n,model2),`${both(n.tokens,later.tokens)} tokens`,both(n.rate,later.rate,rate)];
(n.alarms||later.alarms)&&parts2.push(tally(n)===tally(later)?tally(n):`${tally(n)} → ${tally(later)}`),n.instances?.deadlocked&&parts2.push(`${count(n.instances.
deadlocked)} deadlocked`),say(row2.querySelector(".text"),parts2.join(" · "))}#showSource(row2,s){let mark2=row2.querySelector(".mark"),up=s.state==="up";say(mark2,
up?"●":s.state==="unknown"?"?":"◌"),mark2.className=up?"mark good":"mark warn",mark2.title=s.state;let{model:model2}=this,passed=model2.passed(),silent2=s.last_heard_age_seconds==
null?"–":age(s.last_heard_age_seconds+passed);say(row2.querySelector(".age"),silent2);let net2=(s.changed==="new"?model2.latest:model2.overview)?.nets.find(n=>n.
id===s.net),later=model2.comparing&&!s.changed?model2.latest?.sources.find(other=>other.net===s.net&&other.name===s.name):void 0,state=later&&later.state!==s.state?
`${s.state} → ${later.state}`:s.reason?`${s.state}: ${s.reason}`:s.state,parts2=[...since(s,model2),state,...s.below?["a sidecar below"]:[],net2?label(net2):s.
net];s.region&&parts2.push(s.fence?`${s.region}, owner ${s.fence}`:s.region),s.standbys!=null&&parts2.push(standbys(s)),s.gaps&&parts2.push(`${count(s.gaps)} ga\
ps`);let refused=Object.values(s.refused_requests??{}).reduce((n,of)=>n+of,0);refused&&parts2.push(`${plural(refused,"request")} refused`),say(row2.querySelector(
".text"),parts2.join(" · "))}};function since(x,model2){return x.changed?[`${x.changed} since ${when(model2.at)}`]:[]}function standbys(s){let behind=s.lag?`, ${count(
s.lag)} behind`:"";return s.standbys?`${count(s.standbys)} standby${s.standbys===1?"":"s"}${behind}`:"no standby"}function source(s){return el("li",{class:"row \
source"},el("span",{class:"mark","aria-hidden":"true"}),el("span",{class:"title"},name(s.name)),el("span",{class:"age num",title:"time since the last message"}),
el("span",{class:"text"}))}function health2(n,overview){if(causes(n)>0){let of=(overview?.alarms??[]).filter(a=>a.net===n.id&&!a.unknown&&!a.follows),worst=grades2.
find(grade=>of.some(a=>a.severity===grade));return[...mark(worst??""),worst?`alarm, ${worst}`:"alarm"]}return n.alarms_unknown?["?","warn","alarms of which it i\
s not known whether they hold"]:overview?.deaf?["?","warn","not known: the sidecar receives no messages of sources"]:n.sources_up?n.sources_stale?["◐","warn",
"some sources are silent"]:n.alarms?["◐","warn","alarms that follow from a lost source"]:["●","good","well"]:["◌","warn","no source is up"]}function section(title){
let list=el("ul",{class:"rows"}),more2=el("p",{class:"quiet more",hidden:!0}),number=el("span",{class:"quiet num"});return{root:el("section",null,el("h2",null,title,
" ",number),list,more2),list,more:more2,count:number}}var width2=180,height2=112,margin3=4,allOfIt=.98,hot=.5,Minimap=class{constructor(model2,stage2,theme2){this.model=model2,this.stage=stage2,this.palette=new Palette(
theme2.now),this.canvas=byId("minimap"),this.ctx=this.canvas.getContext("2d"),this.dots=document.createElement("canvas"),this.ratio=Math.min(2,devicePixelRatio||
1);for(let c of[this.canvas,this.dots])Object.assign(c,{width:width2*this.ratio,height:height2*this.ratio});this.scale=this.x=this.y=0,this.asked=0,this.stale=!0,
model2.on("drawing frame address sight link",()=>this.#ask(!0)),model2.on("hover",()=>this.#ask(!1)),theme2.addEventListener("change",()=>{this.palette=new Palette(
theme2.now),this.#ask(!0)});for(let type of["pointerdown","pointermove"])this.canvas.addEventListener(type,event=>this.#press(event))}#ask(changed){this.stale||=
changed,this.asked||(this.asked=requestAnimationFrame(()=>this.#paint()))}#press(event){if(!(event.buttons&1))return;event.type==="pointerdown"&&event.isTrusted&&
this.canvas.setPointerCapture(event.pointerId);let box=this.canvas.getBoundingClientRect(),zoom=width2/box.width;this.stage.lookAt(((event.clientX-box.left)*zoom-
this.x)/this.scale,((event.clientY-box.top)*zoom-this.y)/this.scale),event.preventDefault()}#paint(){this.asked=0;let{model:model2,stage:stage2,canvas:canvas2,ctx,
ratio}=this,scene=model2.scene,box=scene&&(model2.where.around?boxOf(scene,stage2.marks):scene.box);if(canvas2.hidden=!box||stage2.away||!this.#partly(box),canvas2.
hidden||!scene||!box)return;this.scale=Math.min((width2-2*margin3)/(box.right-box.left),(height2-2*margin3)/(box.bottom-box.top)),this.x=width2/2-(box.left+box.
right)/2*this.scale,this.y=height2/2-(box.top+box.bottom)/2*this.scale,this.stale&&this.#paintDots(scene),ctx.setTransform(1,0,0,1,0,0),ctx.clearRect(0,0,canvas2.
width,canvas2.height),ctx.drawImage(this.dots,0,0),ctx.setTransform(ratio,0,0,ratio,0,0);let[left,top]=stage2.camera.toWorld(0,0),[right,bottom]=stage2.camera.toWorld(
stage2.width,stage2.height),x=Math.max(1,left*this.scale+this.x),y=Math.max(1,top*this.scale+this.y);ctx.strokeStyle=this.palette.accent,ctx.lineWidth=1.5,ctx.strokeRect(
x,y,Math.max(4,Math.min(width2-1,right*this.scale+this.x)-x),Math.max(4,Math.min(height2-1,bottom*this.scale+this.y)-y))}#partly(box){let{camera,width:w,height:h}=this.
stage;if(!w)return!1;let[left,top]=camera.toWorld(0,0),[right,bottom]=camera.toWorld(w,h);return Math.max(0,Math.min(right,box.right)-Math.max(left,box.left))*Math.
max(0,Math.min(bottom,box.bottom)-Math.max(top,box.top))<allOfIt*(box.right-box.left)*(box.bottom-box.top)}#paintDots(scene){this.stale=!1;let ctx=this.dots.getContext(
"2d"),{palette,ratio}=this,frame=this.model.shown,now=this.model.now();ctx.setTransform(ratio,0,0,ratio,0,0),ctx.clearRect(0,0,width2,height2);let warm=[];ctx.fillStyle=
palette.arc,scene.nodes.forEach((n,i)=>{if(this.stage.marks[i]===2)return;let h=i<scene.placeCount&&!n.calm&&frame?.places[i]?.tokens?heat(frame.oldestAge(i,now)):
0;h>hot&&warm.push([h,i]);let w=Math.max(1,n.w*this.scale);ctx.fillRect(n.x*this.scale+this.x-w/2,n.y*this.scale+this.y-w/2,w,Math.max(1,n.h*this.scale))});for(let[
h,i]of warm.sort((a,b)=>a[0]-b[0]))ctx.fillStyle=palette.heat.fill(h),ctx.beginPath(),ctx.arc(scene.nodes[i].x*this.scale+this.x,scene.nodes[i].y*this.scale+this.
y,.6+2*h,0,2*Math.PI),ctx.fill()}};var Clock=class{constructor(){this.differences=[]}observe(at2){this.differences.push(at2-Date.now()),this.differences.length>60&&this.differences.shift()}reset(){
this.differences=[]}get ahead(){return this.differences.length<3?void 0:Math.max(...this.differences)}now(){return Date.now()+(this.differences.length?Math.max(
...this.differences):0)}};var Frame=class{constructor(message){this.net=message.net,this.drawing=message.drawing,this.generation=message.generation,this.at=Date.parse(message.at),this.resting=
message.resting??[],this.places=message.places.map(dated),this.transitions=message.transitions.map(dated)}apply(diff){this.generation=diff.generation,this.at=Date.
parse(diff.at);for(let row2 of diff.places)this.places[row2.index]=dated(row2);for(let row2 of diff.transitions)this.transitions[row2.index]=dated(row2)}oldestAge(i,now){
let row2=this.places[i];return age2(row2,row2?.tokens,now)}enabledAge(i,now){let row2=this.transitions[i];return age2(row2,row2?.enabled,now)}byAge(nodes){let order=[];
for(let i=0;i<this.places.length;i++)this.places[i].since&&!nodes[i]?.calm&&order.push(i);return order.sort((a,b)=>this.places[a].since-this.places[b].since||a-
b)}};function dated(row2){let since2=row2.oldest_since??row2.enabled_since;return row2.since=since2?Date.parse(since2):0,row2}function age2(row2,n,now){return row2?.
since?Math.max(0,(now-row2.since)/1e3):n===0?0:null}var firstWait=500,longestWait=5e3,silence=2e4,opening=4e3,Live=class extends EventTarget{#source=null;#net="";#wait=firstWait;#retry=0;#watch=0;#wasUp=!1;up=!1;refusal=null;received=0;open(net2){
this.#net=net2,this.#wait=firstWait,this.#connect()}rest(){clearTimeout(this.#retry),clearTimeout(this.#watch),this.#source?.close()}get net(){return this.#net}#connect(){
clearTimeout(this.#retry),this.#source?.close();let source2=new EventSource(address("live",this.#net?{net:this.#net}:void 0));this.#source=source2,source2.addEventListener(
"error",()=>this.#lost(source2));for(let type of["overview","frame","diff"])source2.addEventListener(type,event=>this.#take(type,event.data));clearTimeout(this.#watch),
this.#watch=window.setTimeout(()=>this.#stalled(source2),opening)}async#stalled(source2){let refusal=await this.#reason(!1);if(source2!==this.#source||source2.readyState!==
EventSource.CONNECTING)return;let before=this.refusal;this.refusal=refusal?.status===401?refusal:null,this.refusal?this.#watch=window.setTimeout(()=>this.#stalled(
source2),opening):before?this.#connect():this.#listen()}#take(type,text4){this.received=Date.now(),this.#listen(),this.refusal=null,this.up||(this.up=!0,this.#wait=
firstWait,this.dispatchEvent(new CustomEvent("up",{detail:this.#wasUp})),this.#wasUp=!0),this.dispatchEvent(new CustomEvent(type,{detail:JSON.parse(text4)}))}async#lost(source2,silent2){
if(source2!==this.#source)return;let refused=source2.readyState===EventSource.CLOSED;source2.close(),clearTimeout(this.#watch),clearTimeout(this.#retry),this.up=
!1,this.dispatchEvent(new CustomEvent("down")),refused?this.refusal=await this.#reason(!0):silent2||(this.refusal=null),source2===this.#source&&(this.#retry=window.
setTimeout(()=>this.#connect(),this.refusal?.after??this.#wait),this.#wait=Math.min(longestWait,this.#wait*2))}async#reason(answered){let ended=new AbortController,
ask2=credentials=>fetch(address("live"),{credentials,signal:AbortSignal.any([ended.signal,AbortSignal.timeout(silence/4)]),cache:"no-store"});try{let answer2=await ask2(
"omit");if(answer2.status===401&&answered&&(answer2=await ask2("same-origin").catch(()=>answer2)),answer2.ok)return null;let text4=await answer2.json().then(doc=>String(
doc.error),()=>answer2.statusText);return{status:answer2.status,text:text4,after:Math.max(this.#wait,1e3*(Number(answer2.headers.get("Retry-After"))||0))}}catch{
return null}finally{ended.abort()}}#listen(){clearTimeout(this.#watch),this.#watch=window.setTimeout(()=>this.#probe(),silence)}async#probe(){let source2=this.#source;
try{await ask("overview",void 0,AbortSignal.timeout(silence/4)),this.received=Date.now(),this.#listen()}catch{source2&&this.#lost(source2,!0)}}};var most4=12,busy=503,pause2=2e3,tries=3,same2=2,late={steps:3,least:12e4,archive:3e5},Moments=class{constructor(){this.known=new Map}async ask(net2,at2,kept,signal){
let key4=`${at2} ${net2}`,known=this.known.get(key4);if(known)try{return await known}catch{signal.throwIfAborted()}let asked=moment2(net2,at2,kept,signal);this.
known.set(key4,asked),this.known.size>most4&&this.known.delete(this.known.keys().next().value);try{let found=await asked;return found.failed&&this.known.delete(
key4),found}catch(error){throw this.known.delete(key4),error}}};function unasked(net2,at2,of){let overview=of?.asked===at2?of.overview:null;return{net:net2,asked:at2,
at:overview&&of?of.at:at2,overview,frame:null,lacks:"",before:0,archive:!1,failed:!1,asking:!0}}async function moment2(net2,asked,kept,signal){let time=new Date(
asked).toISOString(),all=at2=>answer("overview",{at:at2},asked,signal),one=at2=>answer("history",{net:net2,at:at2},asked,signal),[o,f]=await Promise.all([all(time),
net2?one(time):{doc:null,at:0,why:""}]);for(let k=0;k<tries&&o.doc&&f.doc&&Math.abs(o.at-f.at)>same2;k++)o.at>f.at?o=await all(f.doc.at):f=await one(o.doc.at);return joined(
net2,asked,kept,o,f)}async function answer(what,query,asked,signal){try{let doc=await patient(what,query,signal),at2=Date.parse(doc.at);return at2<=asked+same2?
{doc,at:at2,why:""}:{doc:null,at:0,why:""}}catch(error){return signal.throwIfAborted(),{doc:null,at:0,why:error instanceof ApiError&&error.status===404?"":error instanceof
Error?error.message:String(error)}}}async function patient(what,query,signal){for(let k=1;;k++)try{return await ask(what,query,signal)}catch(error){if(!(error instanceof
ApiError)||error.status!==busy||k===tries)throw error;await new Promise(done=>setTimeout(done,pause2)),signal.throwIfAborted()}}function joined(net2,asked,kept,o,f){
let of=when(asked),m={net:net2,asked,at:asked,overview:null,frame:null,lacks:"",before:0,archive:!!(o.doc?.archive??f.doc?.archive),failed:!!(o.why||f.why),asking:!1},
newest=Math.max(o.at,f.at);if(!newest){let why=o.why||f.why;return{...m,lacks:why?`The data of ${of} cannot be loaded: ${why}.`:`No data is kept for ${of}. ${keeps(
kept)}`.trim()}}return asked-newest>patience3(kept,m.archive)?{...m,before:newest,lacks:`No data is kept for ${of}: nothing was kept after ${when(newest)} until\
 then.`}:(m.at=o.at||f.at,m.overview=o.doc&&{nets:[],sources:[],alarms:[],silences:[],...o.doc},f.doc&&Math.abs(f.at-m.at)<=same2&&(m.frame=new Frame(f.doc)),o.
doc?net2&&!m.frame&&(m.lacks=noFrame(net2,m,f)):m.lacks=`Nets, alarms and sources are not kept for ${of}${o.why&&`: ${o.why}`}.`,m.before=f.doc&&!m.frame?f.at:0,
m)}function noFrame(net2,m,f){let of=when(m.at);return f.why?`The numbers of this net at ${of} cannot be loaded: ${f.why}.`:m.overview?.nets.some(n=>n.id===net2)?
`The numbers of this net are not kept for ${of}${f.doc?`; the last before are of ${when(f.at)}`:""}.`:`This net was not there at ${of}.`}function patience3(kept,archive){
let step=(archive?kept?.archive?.step:kept?.step)??0;return Math.max(late.steps*step*1e3,archive?late.archive:late.least)}function keeps(kept){return kept?`The \
sidecar keeps ${when(Date.parse(kept.from))} to now${kept.archive?`, its archive ${when(Date.parse(kept.archive.from))} and later`:""}.`:"The sidecar keeps no p\
ast."}var retry=2e3,mostDrawn=2e3,Model=class extends EventTarget{constructor(){super(),this.address=new Address,this.live=new Live,this.clock=new Clock,this.latest=null,
this.latestAt=0,this.moments=new Moments,this.moment=null,this.asked=null,this.playing=0,this.scene=null,this.current=null,this.traced=[],this.trouble="",this.outdated=
!1,this.unfound="",this.bpmnTrouble="",this.whole=null,this.apart="",this.upright=matchMedia("(orientation: portrait)"),this.drawingAsked=""}start(){this.address.
addEventListener("change",event=>this.#moved(event.detail)),this.live.addEventListener("overview",event=>this.#overview(event.detail)),this.live.addEventListener(
"frame",event=>this.#frame(event.detail)),this.live.addEventListener("diff",event=>this.#diff(event.detail)),this.live.addEventListener("up",()=>{this.clock.reset(),
this.#again(),this.#tell("link")}),this.live.addEventListener("down",()=>this.#tell("link")),this.upright.addEventListener("change",()=>this.whole&&this.#draw(this.
whole.hash,!0)),addEventListener("pagehide",()=>this.live.rest()),addEventListener("pageshow",event=>event.persisted&&this.live.open(this.live.net)),this.live.open(
this.where.net),this.#travel()}get where(){return this.address.where}get at(){return this.moment?.at??0}get overview(){return this.moment?this.moment.overview:this.
latest}get shown(){return this.moment?this.#drawn(this.moment.frame):this.current}get lacks(){let{moment:moment3}=this;return!moment3?.frame||moment3.lacks||this.#drawn(
moment3.frame)||!this.scene?moment3?.lacks??"":`This net had another definition at ${when(moment3.at)}, so its numbers cannot be shown on this drawing.`}get comparing(){
return this.where.compare&&this.moment!==null&&!this.moment.asking}get asking(){return this.asked!==null}get actions(){return!this.moment&&!!this.latest?.actions}now(){
return this.at||this.clock.now()}passed(){return this.moment?0:(Date.now()-this.latestAt)/1e3}get net(){return this.overview?.nets.find(n=>n.id===this.where.net)}on(types,listener){
for(let type of types.split(" "))this.addEventListener(type,listener)}select(kind,id){this.address.go({kind,id:kind?id:""})}openNet(net2){this.address.go({net:net2,
kind:"",id:"",around:"",look:"",...this.where.view==="bpmn"?{view:""}:{}})}lookAround(node,steps){let n=this.scene?.nodes[node];n&&this.address.go({around:`${n.
kind} ${n.id}`,steps,...this.bpmn?{view:"net"}:{}})}travel(at2,sliding){this.address.go({at:at2},sliding)}trace(places){places.join(`
`)!==this.traced.join(`
`)&&(this.traced=places,this.#tell("hover"),this.#tell("frame"))}selected(){let{kind,id}=this.where;return this.scene&&(kind==="place"||kind==="transition")?this.
scene.find(kind,id):-1}hottest(){return this.shown&&this.scene?this.shown.byAge(this.scene.nodes)[0]??-1:-1}get bpmn(){let{view}=this.where;return!!this.scene?.
model?.digest&&!this.bpmnTrouble&&(view==="bpmn"||!view&&!this.large)}get large(){return(this.scene?.model?.elements.length??0)>mostDrawn}noBpmn(why){this.bpmnTrouble=
why,this.#tell("address"),this.#tell("frame")}#tell(type){type==="frame"&&this.scene?.rest(this.shown?.resting??this.current?.resting??[]),this.dispatchEvent(new Event(
type))}#moved(before){before.net!==this.where.net&&(this.scene=this.whole=this.current=null,this.drawingAsked=this.trouble=this.bpmnTrouble=this.apart="",this.#follow(),
this.#tell("drawing")),(before.at!==this.where.at||before.net!==this.where.net)&&this.#travel(),this.#arrange(),this.#tell("address"),this.#tell("frame")}async#arrange(){
let{net:net2,around:around3,steps}=this.where,apart2=around3&&`${steps} ${around3}`,whole=this.whole;if(!whole||apart2===this.apart)return;this.apart=apart2;let drawing=whole;
if(around3){let[kind,...id]=around3.split(" ");if(!this.scene||this.scene.find(kind,id.join(" "))<0)return;try{drawing=arranged(whole,await ask("drawing",{net:net2,
[kind]:id.join(" "),steps:String(steps),...this.#shape()}))}catch{return}}apart2!==this.apart||whole!==this.whole||(this.scene=new Scene(drawing),this.#tell("dr\
awing"))}#follow(){let net2=this.latest?.nets.find(n=>n.id===this.where.net)?.id??"";net2!==this.live.net&&this.live.open(net2)}#overview(overview){this.latest=
overview,this.latestAt=Date.now(),overview.generation&&this.clock.observe(Date.parse(overview.at)),this.moment?.asking&&!this.asked&&this.#travel(),!this.where.
net&&overview.nets.length&&this.address.go({net:neediest(overview).id},!0),this.#follow(),this.#tell("overview")}#frame(message){message.net===this.where.net&&(this.
current=new Frame(message),this.clock.observe(this.current.at),this.#draw(message.drawing),(!this.moment||this.comparing)&&this.#tell("frame"))}#diff(message){this.
current&&(this.#draw(this.current.drawing),this.current.apply(message),this.clock.observe(this.current.at),(!this.moment||this.comparing)&&this.#tell("frame"))}async#draw(hash2,again){
if(!again&&(this.scene?.hash===hash2||this.drawingAsked===hash2))return;this.drawingAsked=hash2;let net2=this.where.net;try{let drawing=await ask("drawing",{net:net2,
...this.#shape()});if(net2!==this.where.net)return;this.whole=drawing,this.apart="",this.scene=new Scene(drawing),this.trouble=this.bpmnTrouble="",this.#arrange(),
this.#tell("drawing"),this.#tell("address"),this.#tell("frame")}catch(error){this.#fail(`Cannot load the drawing of this net: ${text3(error)}.`)}finally{setTimeout(
()=>this.drawingAsked===hash2&&(this.drawingAsked=""),retry)}}#shape(){return this.upright.matches?{upright:""}:{}}#drawn(frame){return frame&&(!this.scene||frame.
drawing===this.scene.hash)?frame:null}async#travel(){let{net:net2,at:at2}=this.where;if(this.asked?.abort(),this.asked=null,at2||(this.moment=null),!at2||this.moment?.
asked===at2&&this.moment.net===net2&&!this.moment.asking||((!this.latest||this.moment?.asking||this.moment&&this.moment.net!==net2)&&(this.moment=unasked(net2,at2,
this.moment)),!this.latest))return;let asked=this.asked=new AbortController;try{let moment3=await this.moments.ask(net2,at2,this.latest?.history,asked.signal);asked===
this.asked&&this.show(moment3)}catch(error){if(!asked.signal.aborted)throw error}}#again(){this.moment?.failed&&(this.moment={...this.moment,asking:!0},this.#travel())}show(moment3){
this.asked?.abort(),this.asked=null,this.moment=moment3,this.#tell("overview"),this.#tell("frame")}#fail(trouble){this.trouble=trouble,this.#tell("link")}};function text3(error){
return error instanceof Error?error.message:String(error)}function neediest({nets,alarms}){let urgent=[...alarms].sort(urgency("")).find(a=>nets.some(n=>n.id===
a.net));return nets.find(n=>n.id===urgent?.net)??[...nets].sort((a,b)=>(b.oldest_age_seconds??0)-(a.oldest_age_seconds??0))[0]}var Confirmation=class{constructor(model2,act){this.model=model2,this.act=act,this.said=el("div",{class:"said",role:"status"},"asking the engine …"),this.comment=
el("input",{type:"text",maxlength:256,placeholder:"why (optional, for the audit log)","aria-label":"Comment, may be empty",autocomplete:"off"}),this.yes=el("but\
ton",{type:"submit",disabled:!0},this.#what()),this.no=el("button",{type:"button",onclick:()=>this.dialog.close()},"Cancel");let form=el("form",{method:"dialog"},
this.comment,this.yes,this.no);this.dialog=el("dialog",{class:"confirm","aria-labelledby":"confirm-title"},el("h2",{id:"confirm-title"},`${this.#what()} in ${act.
instance}?`),this.said,form),form.addEventListener("submit",event=>{event.preventDefault(),this.#send()}),this.dialog.addEventListener("close",()=>this.dialog.remove())}async ask(){
document.body.append(this.dialog),this.dialog.showModal(),this.no.focus();try{let answer2=await post("act",{...this.act,dry_run:!0});this.said.replaceChildren(el(
"p",null,`Source ${answer2.source} has the instance.`),el("ul",{class:"waits"},...answer2.held.map(h=>this.#held(h)))),this.yes.disabled=!1,this.comment.focus()}catch(error){
this.#failed(error)}}async#send(){let comment=this.comment.value.trim();this.yes.disabled=!0,say(this.said,"sending …");try{let answer2=await post("act",{...this.
act,...comment&&{comment}});this.said.replaceChildren(el("p",{class:"good"},`Done by ${answer2.source}.`)),this.#over(),this.model.dispatchEvent(new Event("acte\
d"))}catch(error){this.#failed(error)}}#failed(error){this.said.replaceChildren(el("p",{class:"note"},`Not done: ${error instanceof Error?error.message:String(error)}`)),
this.#over()}#over(){this.comment.remove(),this.yes.remove(),say(this.no,"Close"),this.no.focus()}#what(){let{verb,place:place3,transition:transition3,tokens}=this.
act;return verb==="inject"?`Inject ${plural(tokens??1,"token")} into ${this.#name("place",place3)}`:`${verb==="fire"?"Fire":"Retry"} ${this.#name("transition",transition3)}`}#held(h){
return el("li",null,`${plural(h.tokens,"token")} in ${this.#name("place",h.place)} for ${age(h.age_seconds)}${h.wait?.text?`: ${h.wait.text}`:""}`)}#name(kind,id=""){
let node=this.model.scene?.nodes[this.model.scene.find(kind,id)];return node?label(node):id}};var verbs=Object.freeze({fire:"Fire",retry:"Retry",inject:"Inject"});function commands({commands:lines,acts,tool},model2){if(!lines?.length&&!tool)return[];let button2=i=>{
let act=model2.latest?.acts?acts?.[i]:void 0;return act&&el("button",{type:"button",class:"do","data-key":"act "+i,onclick:()=>new Confirmation(model2,act).ask()},
`${verbs[act.verb]} …`)},body=lines?.length?el("ul",{class:"commands"},...lines.map((line3,i)=>el("li",null,el("code",null,line3),button2(i)))):el("p",{class:"\
quiet"},`pnagent does not act on this engine. Use ${tool}.`);return[el("h3",null,"Act on it"),body]}function actions(list){return list?.length?[el("h3",null,"Wh\
at people did"),el("ol",{class:"tokens"},...list.map(a=>el("li",null,el("span",{class:"quiet num"},clock(Date.parse(a.at))),name(did(a)),el("span",{class:"quiet"},
`by ${a.by||"unknown"}${a.comment?": "+a.comment:""}`),a.error&&el("ul",{class:"waits"},el("li",null,`refused: ${a.error}`)))))]:[]}function did(a){return a.kind===
"inject"?`inject ${a.place??""}${a.tokens>1?" ×"+a.tokens:""}`:`${a.kind} ${a.transition??a.event??""}`}function place(p,{model:model2,heat:scale}){let out=[facts2([["tokens",count(p.tokens)],["instances",count(p.instances)],["oldest",p.tokens===0?"empty":age(p.oldest_age_seconds)],
["mean age",p.tokens===0?"empty":age(p.mean_age_seconds)],["arrived",count(p.arrivals)],["left",count(p.departures)]])],calm=model2.scene?.nodes[model2.scene.find(
"place",p.id)]?.calm;return p.final?out.push(el("p",{class:"quiet"},"No transition takes tokens from here: they are finished work, not stuck.")):calm&&out.push(
el("p",{class:"quiet"},"Tokens may stay here: the rules of alarms turn tokenStuck off for this place.")),p.final||out.push(el("h3",null,"Oldest tokens"),oldest(
p.stuck,p.id,model2,calm?scale.cold():scale),...commands(p,model2)),p.older_than&&out.push(ladder(p.older_than,p.tokens,calm?scale.cold():scale)),out.push(...series(
p.series,model2)),out.push(histogram(p.dwell,"Time spent here")),out}function oldest(tokens,place3,model2,scale){return tokens?tokens.length?el("div",null,el("o\
l",{class:"tokens"},...tokens.map((t,i)=>el("li",null,el("button",{type:"button",class:"link-like","data-key":"token "+i,onclick:()=>model2.select("instance",t.
instance)},name(t.instance)),badge(t.age_seconds,scale),el("span",{class:"quiet num"},`since ${moment(Date.parse(t.injected))}`),waits(t.waits,model2)))),el("bu\
tton",{type:"button",class:"link-like all","data-key":"all",onclick:()=>new Instances(model2,scale,place3).open()},"All instances in this place …")):el("p",{class:"\
quiet"},"none"):el("p",{class:"quiet"},"–")}function series(s,model2){if(!s?.points?.length)return[];let range=hour2(model2);return[sparkline(s.points,1,{title:"\
Tokens",say:count,...range}),sparkline(s.points,2,{title:"Oldest token",say:age,...range,className:"warm"})]}function hour2(model2){let h=model2.latest?.history,
to=h?Date.parse(h.to):model2.clock.now(),from=h?Date.parse(h.from):to-36e5;return{from,to,mark:model2.at,pick:ms=>model2.travel(Math.max(from+1,Math.round(ms)))}}function instance(a,{model:model2,heat:scale}){let out=[el("h3",null,"Where it is now")];return a.now?a.now.length?out.push(el("ol",{class:"tokens"},...a.now.map(
(t,i)=>held(t,i,model2,scale)))):out.push(el("p",{class:"quiet"},"It holds no token.")):out.push(el("p",{class:"note"},`Where it is now is not known: ${a.unanswered??
"no answer"}.`)),out.push(...commands(a,model2),...actions(a.actions)),out.push(el("h3",null,"Seen among the oldest, last hour")),a.seen?.length?out.push(stays(
a.seen,{model:model2,heat:scale},"seen")):out.push(el("p",{class:"quiet"},"Not among the oldest tokens of any place in the last hour.")),out}function stays(seen2,{
model:model2,heat:scale},key4){return el("ol",{class:"tokens seen"},...seen2.map((s,i)=>stay(s,`${key4} ${i}`,model2,scale)))}function held(t,i,model2,scale){let{
final,calm}=model2.scene?.nodes[model2.scene.find("place",t.place)]??{};return el("li",null,toPlace(t.place,model2,"now "+i),t.tokens>1&&el("span",{class:"num"},
"×"+count(t.tokens)),badge(t.age_seconds,calm?scale.cold():scale),final?el("span",{class:"quiet"},"finished"):waits(t.waits,model2),data(t.data))}function stay(s,key4,model2,scale){
let{from,to}=hour2(model2),begun=Date.parse(s.injected),gone=s.gone&&Date.parse(s.last_seen)<=model2.now(),ended=gone?Date.parse(s.last_seen):model2.now(),x=ms=>Math.
max(0,Math.min(100,(ms-from)/Math.max(1,to-from)*100)),lasted=(ended-begun)/1e3,bar=svg("svg",{viewBox:"0 0 100 6",preserveAspectRatio:"none",class:"barline","a\
ria-hidden":"true"},svg("rect",{width:100,height:6,class:"track"}),svg("rect",{x:Math.min(98.5,x(begun)),width:Math.max(1.5,x(ended)-x(begun)),height:6,fill:scale.
fill(heat(lasted))})),words3=gone?`from ${clock(begun)}, last seen ${clock(ended)}: ${age(lasted)}`:`since ${clock(begun)}: ${age(lasted)}`;return el("li",null,
toPlace(s.place,model2,key4),el("span",{class:"quiet num"},words3),bar,waits(s.waits,model2))}function toPlace(id,model2,key4){let node=model2.scene?.nodes[model2.
scene.find("place",id)];return el("button",{type:"button",class:"link-like","data-key":key4,onclick:()=>model2.select("place",id)},name(node?label(node):id,id))}function links(model2){let{net:net2,kind,id}=model2.where,to=model2.latest?.links;if(!to)return null;let alarms=model2.overview?.alarms.filter(a=>a.net===net2&&
(kind==="place"?a.place:a.transition)===id)??[],out=[...new Set(kind==="instance"?[]:alarms.map(a=>a.alarm))].filter(k=>to.runbooks[k]).map(k=>link(to.runbooks[k],
`Runbook: ${kindName(k)}`,k));return to.grafana&&out.push(link(filled2(to.grafana,model2),"Grafana","grafana")),out.length?el("p",{class:"links"},...out):null}function link(href,text4,key4){
return el("a",{href,target:"_blank",rel:"noreferrer","data-key":"link "+key4},text4)}function filled2(template,model2){let{where}=model2,to=Math.round(model2.now()),
values={net:where.net,place:"",transition:"",[where.kind]:where.id,from:String(to-36e5),to:String(to)};return template.replace(/\{(net|place|transition|from|to)\}/g,
(_,key4)=>encodeURIComponent(values[key4]))}var hour3=36e5,same3=2;function past2(kind,answer2,node,context){let{model:model2}=context,out=[el("p",{class:"note of-past"},`As of ${when(model2.at)}, ${age((model2.
clock.now()-model2.at)/1e3)} ago.`)];kind==="instance"?out.push(...instance2(answer2,context)):!model2.shown||node<0?out.push(el("p",null,model2.lacks||"Nothing\
 is known of it for that moment.")):out.push(...kind==="place"?place2(node,model2):transition(node,model2),...oldest2(kind,answer2,context),...series2(kind,answer2,
model2));let missing={place:"Why its tokens waited, how old the others were, how long tokens stayed",transition:"Why it did not fire, how long it took",instance:"\
Where else it was"}[kind];return out.push(el("p",{class:"quiet"},`${missing}: not kept. Requests act on now, so there are none here. `,el("button",{type:"button",
class:"link-like","data-key":"now",onclick:()=>model2.travel(0)},"Show now"))),out}function place2(node,model2){let{scene,shown:shown3}=model2,final=scene?.nodes[node].
final,now=model2.comparing?model2.current?.places[node]:void 0,then2=shown3?.places[node]??{},later=now??then2,old=(frame,at2)=>frame?.places[node]?.tokens===0?
"empty":age(frame?.oldestAge(node,at2)),oldest3=old(shown3,model2.at),present=old(model2.current,model2.clock.now());return[facts2([["tokens",both(then2.tokens,
later.tokens)],["instances",both(then2.instances,later.instances)],["oldest",later===then2||oldest3===present?oldest3:`${oldest3} → ${present}`],["arrivals",both(
then2.arrival_rate,later.arrival_rate,rate)]]),...final?[el("p",{class:"quiet"},"No transition takes tokens from here: they are finished work, not stuck.")]:[]]}
function transition(node,model2){let{scene,shown:shown3}=model2,row2=scene?.row(node)??0,then2=shown3?.transitions[row2]??{},later=(model2.comparing?model2.current?.
transitions[row2]:void 0)??then2;return[facts2([["rate",both(then2.rate,later.rate,rate)],["enabled",both(then2.enabled,later.enabled)],["for",then2.enabled?age(
shown3?.enabledAge(row2,model2.at)):"–"],["running",both(then2.running,later.running)],["blocked",both(then2.blocked,later.blocked)],["failed",both(then2.failures,
later.failures)]])]}function oldest2(kind,answer2,{model:model2,heat:scale}){return kind!=="place"||!answer2?.stuck?.length||Math.abs(Date.parse(answer2.at)-model2.
at)>same3?[]:[el("h3",null,"Oldest tokens then"),el("ol",{class:"tokens"},...answer2.stuck.map((t,i)=>el("li",null,el("button",{type:"button",class:"link-like",
"data-key":"token "+i,onclick:()=>model2.select("instance",t.instance)},name(t.instance)),badge(t.age_seconds,model2.scene?.nodes[model2.scene.find("place",answer2.
id)]?.calm?scale.cold():scale),el("span",{class:"quiet num"},`since ${when(Date.parse(t.injected))}`))))]}function series2(kind,answer2,model2){let{at:at2}=model2,
points=(answer2?.series?.points??[]).filter(p=>p[0]!==null&&p[0]>=at2-hour3&&p[0]<=at2);if(!points.length)return[el("p",{class:"quiet"},answer2?"The hour before\
 is not kept.":"asking …")];let range={from:Math.min(points[0][0],at2-6e4),to:at2,mark:at2,pick:ms=>model2.travel(Math.round(ms))};return(kind==="place"?[["To\
kens",1,count,""],["Oldest token",2,age,"warm"]]:[["Firings",1,rate,""],["Running",2,count,"warm"]]).map(([title,column,say2,className])=>sparkline(points,Number(
column),{title:String(title),say:say2,className:String(className),...range}))}function instance2(answer2,context){let{at:at2}=context.model;if(!answer2)return[el(
"p",{class:"quiet"},"asking …")];let seen2=(answer2.seen??[]).filter(s=>Date.parse(s.injected)<=at2),then2=seen2.filter(s=>there(s,at2));return[el("h3",null,"\
Where it was seen then"),then2.length?stays(then2,context,"then"):el("p",{class:"quiet"},"Not among the oldest tokens of any place at that moment."),el("h3",null,
"Seen among the oldest until then"),seen2.length?stays(seen2,context,"seen"):el("p",{class:"quiet"},"Not among the oldest tokens of any place until then.")]}function there({
injected,last_seen:last,gone},at2){return Date.parse(injected)<=at2&&(!gone||at2<=Date.parse(last))}function transition2(t,{model:model2}){let out=[facts2([["rate",rate(t.rate)],["firings",count(t.firings)],["last",t.last_firing?clock(Date.parse(t.last_firing)):
"–"],["enabled",count(t.enabled)],["for",t.enabled?age(t.enabled_age_seconds):"–"],["running",count(t.running)],["failed",count(t.failures)],["retried",count(
t.retries)],["cancelled",count(t.cancels)]])];if(out.push(el("h3",null,"Why it does not fire"),blocked(t.blocks)),t.series?.points?.length){let range=hour2(model2);
out.push(sparkline(t.series.points,1,{title:"Firings",say:rate,...range})),t.series.points.some(p=>p[2])&&out.push(sparkline(t.series.points,2,{title:"Running",
say:count,...range,className:"warm"}))}return out.push(histogram(t.duration,"Time it takes")),out}function blocked(list){return list?list.length?el("ul",{class:"\
waits"},...list.map(b=>el("li",{title:b.reason},b.text||`${b.reason} ${b.place??""}`," ",el("span",{class:"quiet num"},plural(b.instances,"instance"))))):el("p",
{class:"quiet"},"Nothing holds it up."):el("p",{class:"quiet"},"–")}var fresh=2e3,parts={place,transition:transition2,instance},Panel=class{constructor(model2,root,theme2){this.model=model2,this.root=root,this.heat=new HeatScale(
theme2.now),this.subject="",this.answer=null,this.answerOfPast=!1,this.trouble="",this.askedAt=0,this.asked=null,this.of=null,this.held=!1,this.input="",this.opener=
null,addEventListener("keydown",()=>this.input="key",!0),addEventListener("pointerdown",()=>this.input="pointer",!0),theme2.addEventListener("change",()=>{this.
heat=new HeatScale(theme2.now),this.show()}),model2.on("address drawing",()=>this.#turn()),model2.on("frame overview",()=>{model2.moment!==this.of&&!model2.playing&&
(this.askedAt=0),(model2.moment!==this.of||model2.comparing)&&this.#again(),this.#refresh()}),model2.on("acted",()=>{this.askedAt=0,this.#refresh()}),root.addEventListener(
"pointerdown",()=>this.held=!0);let released=()=>{this.held=!1,model2.moment!==this.of&&this.#again()};addEventListener("pointerup",()=>setTimeout(released)),addEventListener(
"pointercancel",released)}#again(){this.subject&&!this.held&&this.show()}#turn(){let{net:net2,kind,id,at:at2}=this.model.where,subject2=kind&&net2?JSON.stringify(
[net2,kind,id,at2]):"";if(subject2===this.subject)return;let same4=this.subject&&subject2&&JSON.stringify([net2,kind,id])===JSON.stringify(JSON.parse(this.subject).
slice(0,3));this.subject=subject2,same4||(this.answer=null,this.trouble="",this.root.scrollTop=0),this.askedAt=0;let opens=this.root.hidden&&!!subject2,active=document.
activeElement,inside=this.root.contains(active);this.root.hidden=!subject2,this.root.parentElement?.classList.toggle("with-panel",!!subject2),subject2&&this.#refresh(),
this.show(),this.#focus(opens,inside,active)}#focus(opens,inside,active){let drawing=active?.id==="net"&&this.input==="pointer"&&innerWidth>760;opens&&(this.opener=
active),this.subject?this.input&&!drawing&&(opens||inside)&&this.root.focus({preventScroll:!0}):document.activeElement===document.body&&this.opener?.isConnected&&
this.opener.focus()}async#refresh(){if(!this.subject||Date.now()-this.askedAt<fresh||document.visibilityState!=="visible")return;this.askedAt=Date.now(),this.asked?.
abort();let asked=this.asked=new AbortController,{model:model2}=this,{where:{net:net2,kind,id},moment:moment3}=model2;try{this.answer=await ask(kind,{net:net2,[kind]:id,
...moment3?{at:new Date(moment3.asked).toISOString()}:{}},asked.signal),this.answerOfPast=moment3!==null,this.trouble="",model2.unfound=kind==="instance"&&!this.
answer.now&&!this.answer.seen?.length&&/^none of /.test(this.answer.unanswered)?id:""}catch(error){if(asked.signal.aborted)return;error instanceof ApiError&&error.
status===404&&(this.answer=null),this.trouble=error instanceof Error?error.message:String(error)}!this.held&&!asked.signal.aborted&&this.show()}#traced(){let{where,
moment:moment3,at:at2}=this.model;return where.kind!=="instance"||!this.answer?[]:(moment3?(this.answer.seen??[]).filter(s=>there(s,at2)):this.answer.now??[]).map(
t=>t.place)}show(){if(this.of=this.model.moment,this.model.trace(this.#traced()),!this.subject)return this.root.replaceChildren();let{kind,id}=this.model.where,
{model:model2,root}=this,node=model2.selected(),title=(this.answer?.name||model2.scene?.nodes[node]?.name||id)??"",head=el("header",{class:"panel-head"},el("p",
{class:"quiet"},kind),el("h2",null,name(title)),title!==id&&el("p",{class:"quiet"},name(id)),el("button",{type:"button",class:"icon close","aria-label":"Close t\
he details (Esc)",title:"Esc","data-key":"close",onclick:()=>model2.select("","")},"×")),doc=this.answer?.doc||model2.scene?.nodes[node]?.doc,body=el("div",{class:"\
panel-body"});body.append(...element(model2,node));let outside=(node>=0||kind==="instance")&&links(model2);outside&&body.append(outside),doc&&body.append(el("p",
{class:"doc"},doc)),this.trouble&&!model2.moment&&body.append(el("p",{class:"note"},`No details: ${this.trouble}`)),model2.moment&&kind?body.append(...past2(kind,
this.answer,node,{model:model2,heat:this.heat})):this.answer&&kind&&!this.answerOfPast?body.append(...parts[kind](this.answer,{model:model2,heat:this.heat})):this.
trouble||body.append(el("p",{class:"quiet"},"asking …"));let whole=this.answer||this.trouble||model2.moment;node>=0&&whole&&body.append(el("p",null,el("button",
{type:"button",class:"link-like","data-key":"near",title:"n",onclick:()=>model2.lookAround(node,2)},"Show only what is near"))),replaceKeepingFocus(root,head,body)}};
function element(model2,node){let{scene,shown:shown3}=model2,e=scene?.elements?.of(node);if(!scene?.elements||!e||!model2.bpmn)return[];let others=scene.elements.
nodesOf(e,shown3).filter(i=>i!==node);return others.length?[el("h3",null,`Also of ${e.id}`),el("ul",{class:"also"},...others.map(i=>{let n=scene.nodes[i],held2=n.
kind==="place"?` ${count(shown3?.places[i]?.tokens)} tokens`:"";return el("li",null,el("button",{type:"button",class:"link-like","data-key":"also "+i,onclick:()=>model2.
select(n.kind,n.id)},name(label(n))),el("span",{class:"quiet num"},` ${n.kind}${held2}`))}))]:[]}var speeds=Object.freeze([1,10,60,600,3600]),usual2=Object.freeze({"":60,"6h":600,"24h":600,"7d":3600}),pause3=250,ahead2=3,written=1e3,Player=class{constructor(model2){
this.model=model2,this.chosen=0,this.run=null,this.wrote=0,this.wroteAt=0,model2.on("address",()=>this.run&&model2.where.at!==this.wrote&&this.stop())}get playing(){
return this.run!==null}get speed(){return this.chosen||usual2[spanOf(this.model).range]}set speed(speed){this.chosen=speed,this.run&&(this.model.playing=speed,this.
model.dispatchEvent(new Event("link")))}toggle(){this.run?this.pause():this.start()}start(){let{model:model2}=this,span2=spanOf(model2);if(!span2.kept)return;let begin=Math.
max(span2.first,model2.where.at||span2.first);this.run=new AbortController,model2.playing=this.speed,this.#write(begin,model2.where.at!==0),say(byId("said"),`pl\
aying from ${when(begin)}, ${this.speed} times as fast`),this.#play(begin,this.run.signal)}pause(){let at2=this.model.moment?.asked;this.stop(),at2&&this.#write(
at2,!0),say(byId("said"),`paused at ${when(this.model.at)}`)}stop(){this.run?.abort(),this.run=null,this.model.playing=0,this.model.dispatchEvent(new Event("fra\
me")),this.model.dispatchEvent(new Event("link"))}#write(at2,replace){this.wrote=at2,this.wroteAt=Date.now(),this.model.travel(at2,replace)}async#play(at2,signal){
let{model:model2}=this,ask2=time=>model2.moments.ask(model2.where.net,time,model2.latest?.history,signal),due2=performance.now();try{for(;at2<spanOf(model2).to;){
let step=Math.max(grain(model2,at2),this.speed*pause3);for(let k=0;k<=ahead2&&at2+k*step<spanOf(model2).to;k++)ask2(at2+k*step).catch(()=>{});let moment3=await ask2(
at2);if(await new Promise(done=>setTimeout(done,due2-performance.now())),signal.aborted)return;moment3.net===model2.where.net&&this.#show(moment3),due2=Math.max(
due2,performance.now()-pause3)+step/this.speed,at2+=step}}catch(error){if(!signal.aborted)throw error}signal.aborted||(this.stop(),say(byId("said"),"now"),model2.
travel(0,!0))}#show(moment3){this.model.show(moment3),Date.now()-this.wroteAt>=written&&this.#write(moment3.asked,!0)}};var most5=12,Search=class{constructor(model2,go,home){this.model=model2,this.go=go,this.home=home,this.input=byId("query"),this.list=byId("matches"),this.matches=
[],this.active=0,this.input.value=model2.where.find,this.input.addEventListener("input",()=>{model2.address.go({find:this.input.value.slice(0,200)},!0),this.#look()}),
model2.on("address",()=>this.#turn()),model2.addEventListener("drawing",()=>model2.where.find&&!model2.where.kind&&this.#look(),{once:!0}),this.input.addEventListener(
"focus",()=>this.#look()),this.input.addEventListener("blur",()=>this.#close()),this.input.addEventListener("keydown",event=>this.#key(event)),this.list.addEventListener(
"pointerdown",event=>event.preventDefault()),byId("search").addEventListener("submit",event=>event.preventDefault())}open(){this.input.focus(),this.input.select()}#turn(){
document.activeElement===this.input||this.input.value===this.model.where.find||(this.input.value=this.model.where.find,this.#close())}#look(){let query=this.input.
value.trim();this.matches=query?find(this.model,query):[],this.active=0,this.#show()}#show(){this.list.hidden=this.matches.length===0,this.input.setAttribute("a\
ria-expanded",String(!this.list.hidden)),this.list.replaceChildren(...this.matches.map((m,i)=>el("li",{role:"option",id:"match-"+i,"aria-selected":String(i===this.
active),onclick:()=>this.#choose(i)},el("span",{class:"quiet kind"},m.kind),name(m.name),m.name!==m.id&&el("span",{class:"quiet"},name(m.id))))),this.matches.length?
this.input.setAttribute("aria-activedescendant","match-"+this.active):this.input.removeAttribute("aria-activedescendant")}#key(event){let step={ArrowDown:1,ArrowUp:-1}[event.
key];if(step&&this.matches.length)this.active=(this.active+step+this.matches.length)%this.matches.length,this.#show();else if(event.key==="Enter"&&this.matches.
length)this.#choose(this.active);else if(event.key==="Escape")this.input.value="",this.model.address.go({find:""},!0),this.#close(),this.home();else return;event.
preventDefault(),event.stopPropagation()}#choose(i){let match=this.matches[i];this.#close(),this.home(),this.go(match)}#close(){this.matches=[],this.#show()}};function find(model2,query){
let wanted=query.toLocaleLowerCase(),found=[],look=(kind,x)=>{let at2=[x.name??"",x.id].map(s=>s.toLocaleLowerCase().indexOf(wanted)).filter(i=>i>=0);at2.length&&
found.push({match:{kind,id:x.id,name:label(x)},rank:Math.min(...at2)?1:0})};for(let node of model2.scene?.nodes??[])look(node.kind,node);for(let net2 of model2.
latest?.nets??[])look("net",net2);found.sort((a,b)=>a.rank-b.rank);let matches2=found.slice(0,most5).map(f=>f.match);return model2.where.net&&matches2.push({kind:"\
instance",id:query,name:query},{kind:"data",id:query,name:query}),matches2}var firstSteps=2,SightBar=class{constructor(model2,stage2){this.model=model2,this.stage=stage2,this.root=byId("sight"),this.said="",byId("quiet").addEventListener(
"click",()=>this.collapse()),model2.on("sight address drawing link",()=>this.show())}collapse(){this.model.bpmn||this.model.address.go({quiet:!this.model.where.
quiet})}toggle(cursor){this.model.where.around?this.leave():this.model.lookAround(cursor>=0?cursor:this.model.selected(),firstSteps)}step(by){let{address:address2,
where}=this.model;where.around&&address2.go({steps:Math.max(1,Math.min(5,where.steps+by))},!0)}leave(){this.model.address.go({around:""})}show(){let{model:model2,
root}=this,{where,scene}=model2;byId("quiet").hidden=model2.bpmn,byId("quiet").setAttribute("aria-pressed",String(where.quiet));let marks3=this.stage.marks,center=centerOf(
model2),hidden=0,silent2=0;for(let mark2 of marks3)mark2===2&&hidden++,mark2===1&&silent2++;let said=JSON.stringify([center,where.steps,where.quiet,hidden,silent2,
this.stage.away]);if(said===this.said||(this.said=said,root.hidden=this.stage.away||!scene||center<0&&!where.quiet,root.hidden||!scene))return;let parts2=[];center>=
0&&parts2.push(el("span",null,"Around ",name(label(scene.nodes[center]))),this.#button("fewer","Fewer steps (<)","−",()=>this.step(-1),where.steps<=1),el("spa\
n",{class:"num"},plural(where.steps,"step")),this.#button("more","More steps (>)","+",()=>this.step(1),where.steps>=5),el("span",{class:"quiet num"},`${marks3.length-
hidden} of ${plural(marks3.length,"node")}`),this.#button("all","The whole net (n)","show all",()=>this.leave(),!1)),where.quiet&&parts2.push(el("span",{class:"\
num"},`${plural(silent2,"quiet node")} collapsed`),this.#button("loud","Show what is quiet (q)","expand",()=>this.collapse(),!1)),replaceKeepingFocus(root,...parts2)}#button(key4,title,text4,onclick,disabled){
return el("button",{type:"button",class:text4.length>1?"link-like":"small","data-key":key4,title,"aria-label":title,onclick,disabled},text4)}};var most6=500,pause4=900,Tables=class{constructor(model2,root,theme2){this.model=model2,this.root=root,this.theme=theme2,this.heat=new HeatScale(theme2.now),this.
places=table("Places, oldest token first",["place","oldest token","tokens","instances","arrivals"]),this.transitions=table("Transitions, most firings first",["t\
ransition","rate","enabled","for","running","blocked","failures"]),this.placesOfBoth=table("Places, greatest difference first",["place","tokens then","tokens no\
w","difference","oldest then","oldest now","same token"]),this.transitionsOfBoth=table("Transitions, greatest difference of the rate first",["transition","rate \
then","rate now","difference","blocked then","blocked now","difference"]),root.append(this.places.root,this.transitions.root,this.placesOfBoth.root,this.transitionsOfBoth.
root),this.shownAt=0,this.of=0,theme2.addEventListener("change",()=>{this.heat=new HeatScale(theme2.now),this.show(!0)}),model2.on("address drawing",()=>this.show(
!0)),model2.on("frame",()=>this.show(!1))}show(now){let{model:model2,root}=this;root.hidden=!model2.where.table,root.parentElement?.classList.toggle("as-table",
model2.where.table);let{scene,shown:shown3}=model2;if(!model2.where.table||!scene||!now&&this.of===model2.at&&Date.now()-this.shownAt<pause4)return;this.shownAt=
Date.now(),this.of=model2.at;let compared=model2.comparing&&shown3!==null&&model2.current?.drawing===shown3.drawing;for(let t of[this.places,this.transitions])t.
root.hidden=compared;for(let t of[this.placesOfBoth,this.transitionsOfBoth])t.root.hidden=!compared;compared?this.#compare(scene,shown3,model2.current):this.#show(
scene,shown3)}#show(scene,shown3){let{model:model2}=this,at2=model2.now(),places=worked(scene,0,scene.placeCount),oldest3=places.map(i=>scene.nodes[i].calm?1/0:
shown3?.places[i]?.since||1/0);places.sort((a,b)=>oldest3[a]-oldest3[b]||(shown3?.places[b]?.tokens??-1)-(shown3?.places[a]?.tokens??-1)||a-b),this.#fill(this.places,
scene,places,0,i=>{let row2=shown3?.places[i]??{},seconds=shown3?.oldestAge(i,at2);return[row2.tokens===0?"empty":scene.nodes[i].final?"finished":age(seconds),count(
row2.tokens),count(row2.instances),rate(row2.arrival_rate)]},i=>scene.nodes[i].calm?0:heat(shown3?.oldestAge(i,at2)));let transitions=worked(scene,scene.placeCount,
scene.nodes.length);transitions.sort((a,b)=>(shown3?.transitions[b]?.rate??-1)-(shown3?.transitions[a]?.rate??-1)||a-b),this.#fill(this.transitions,scene,transitions,
scene.placeCount,i=>{let row2=shown3?.transitions[i]??{};return[rate(row2.rate),count(row2.enabled),row2.enabled?age(shown3?.enabledAge(i,at2)):"–",count(row2.
running),count(row2.blocked),count(row2.failures)]})}#compare(scene,then2,now){let{model:model2}=this,[at2,present]=[model2.at,model2.clock.now()],old=(i,frame,ms)=>frame.
places[i]?.tokens===0?"empty":scene.nodes[i].final?"finished":age(frame.oldestAge(i,ms)),changes=Array.from({length:scene.placeCount},(_,i)=>placeChange(then2.places[i],
now.places[i],(present-at2)/1e3,scene.nodes[i].calm));this.#fill(this.placesOfBoth,scene,byChange(changes.map(c=>c.by)).filter(i=>work(scene.nodes[i])),0,i=>{let{
then:a,now:b,by,aged}=changes[i];return[count(a),count(b),difference(by),old(i,then2,at2),old(i,now,present),aged?`still there, ${age(aged)} older`:""]});let rates=Array.
from({length:scene.nodes.length-scene.placeCount},(_,i)=>less(now.transitions[i]?.rate,then2.transitions[i]?.rate));this.#fill(this.transitionsOfBoth,scene,byChange(
rates).filter(i=>work(scene.nodes[scene.placeCount+i])),scene.placeCount,i=>{let[a,b]=[then2.transitions[i]??{},now.transitions[i]??{}];return[rate(a.rate),rate(
b.rate),difference(rates[i],rate),count(a.blocked),count(b.blocked),difference(less(b.blocked,a.blocked))]})}#fill(to,scene,rows2,first,cells,hot2){let selected=this.
model.selected();syncRows(to.body,rows2.slice(0,most6),i=>scene.hash+i,i=>this.#row(scene.nodes[first+i],cells(i).length),(element2,i)=>{if(cells(i).forEach((text4,k)=>say(
element2.children[k+1],text4)),first+i===selected?element2.setAttribute("aria-current","true"):element2.removeAttribute("aria-current"),!hot2)return;let h=hot2(
i);element2.classList.toggle("hot",h>0),element2.style.setProperty("--fill",this.heat.fill(h))}),to.more.hidden=rows2.length<=most6,say(to.more,rows2.length>most6?
`and ${rows2.length-most6} more`:"")}#row(node,cells){let open=el("button",{type:"button",class:"link-like",onclick:()=>this.model.select(node.kind,node.id)},name(
label(node),node.id));return el("tr",null,el("th",{scope:"row"},open),...Array.from({length:cells},()=>el("td",{class:"num"})))}};function byChange(by){return[...by.
keys()].sort((a,b)=>Math.abs(by[b]??0)-Math.abs(by[a]??0)||a-b)}function difference(by,say2){return by===null?"–":signed(by,say2)}function table(caption,heads){
let body=el("tbody",null),more2=el("p",{class:"quiet more",hidden:!0});return{root:el("div",{class:"table"},el("table",{role:"table"},el("caption",null,caption),
el("thead",null,el("tr",null,...heads.map(h=>el("th",{scope:"col"},h)))),body),more2),body,more:more2}}function worked(scene,from,to){return Array.from({length:to-
from},(_,i)=>i).filter(i=>work(scene.nodes[from+i]))}var key2="pnagent theme",Theme=class extends EventTarget{constructor(chosen=remembered()){super(),this.system=matchMedia("(prefers-color-scheme: dark)"),this.chosen=
chosen,this.system.addEventListener("change",()=>this.#show()),this.#show()}get now(){return this.chosen||(this.system.matches?"dark":"light")}toggle(){this.chosen=
this.now==="dark"?"light":"dark";try{localStorage.setItem(key2,this.chosen)}catch{}this.#show()}#show(){document.documentElement.dataset.theme=this.now,this.dispatchEvent(
new Event("change"))}};function remembered(){try{let kept=localStorage.getItem(key2);return kept==="dark"||kept==="light"?kept:""}catch{return""}}var most7=2e3,shown2=80,pause5=5e3,AlarmMarks=class{constructor(){this.known=new Map,this.active=new Set,this.stale=!0,this.lookedAt=-1/0}learn(overview){let active=new Set(
overview.alarms.map(a=>key3(a)));for(let alarm of overview.alarms)this.known.has(key3(alarm))||this.#note(alarm,1/0);return active}follow(overview){let before=this.
active;this.active=this.learn(overview);for(let k of before)this.stale||=!this.active.has(k)}async look(learnt){if(!(!this.stale||Date.now()-this.lookedAt<pause5)){
this.stale=!1,this.lookedAt=Date.now();try{for(let c of(await ask("alarms/cleared")).cleared)this.#note(c,Date.parse(c.cleared));learnt()}catch{this.stale=!0}}}#note(alarm,cleared){
let known=this.known.get(key3(alarm));this.known.set(key3(alarm),{alarm:known?.alarm??alarm,raised:raised(alarm),cleared}),this.known.size>most7&&this.known.delete(
this.known.keys().next().value)}in({from,to,step}){let marks3=new Map,add=(kind,at2,what)=>{if(!(at2>=from&&at2<=to))return;let place3=`${kind} ${Math.floor((at2-
from)/(to-from)*shown2)}`,same4=marks3.get(place3),text4=`${when(at2)} ${kind}: ${what}`;same4?same4.texts.push(text4):marks3.set(place3,{at:at2,go:Math.min(at2+
step,to),kind,texts:[text4]})};for(let{alarm,raised:begun,cleared}of this.known.values()){let what=`${subject(alarm)}: ${words(alarm)}`;add("raised",begun,what),
add("cleared",cleared,what)}return[...marks3.values()].sort((a,b)=>a.at-b.at)}};function raised(a){return Date.parse(a.raised??a.since)}function key3(a){return`${about(
a)} ${raised(a)}`}var pause6=60,wide=72,Timeline=class{constructor(model2,root,player2){this.model=model2,this.root=root,this.player=player2,this.alarms=new AlarmMarks,this.waiting=
0,this.width=0,this.span=spanOf(model2),this.slider=el("input",{type:"range",id:"time","aria-label":"Time shown",min:0,max:1,step:1,value:1}),this.marks=el("div",
{class:"alarm-marks"}),this.gap=el("div",{class:"gap","aria-hidden":"true",hidden:!0}),this.ticks=el("div",{class:"ticks num","aria-hidden":"true"}),this.play=el(
"button",{type:"button",id:"play",class:"icon",onclick:()=>player2.toggle()},svg("svg",{viewBox:"0 0 16 16","aria-hidden":"true"},svg("path",{class:"to-play",d:"\
M4 2.5v11l9-5.5z"}),svg("path",{class:"to-pause",d:"M3.5 2.5h3v11h-3zM9.5 2.5h3v11h-3z"}))),this.speed=el("select",{id:"speed","aria-label":"Speed of playing",title:"\
Speed of playing",onchange:()=>player2.speed=Number(this.speed.value)},...speeds.map(s=>el("option",{value:s},`${s}×`))),this.ago=el("span",{class:"ago"}),this.
time=el("span",null),this.shown=el("output",{class:"num shown",for:"time"},this.time,this.ago),this.compare=el("button",{type:"button",id:"compare",class:"pill",
onclick:()=>this.toggleCompare()},el("span",{"aria-hidden":"true"},"±"),el("span",{class:"wide"}," compare")),this.range=el("select",{id:"range","aria-label":"\
What the slider spans",title:"What the slider spans",onchange:()=>model2.address.go({range:this.range.value})}),this.back=el("button",{type:"button",id:"live",class:"\
live pill",title:"Back to now (l)",onclick:()=>model2.travel(0)},"live"),this.root.append(this.play,this.speed,el("div",{class:"track"},this.marks,this.gap,this.
slider,this.ticks),this.shown,this.compare,this.range,this.back),this.#listen(),this.show()}#listen(){let{model:model2,root}=this;this.slider.addEventListener("\
input",()=>this.#slide()),model2.on("overview",()=>this.#learn());for(let type of["pointerenter","focusin"])root.addEventListener(type,()=>this.#look());model2.
on("overview address link frame",()=>this.show()),new ResizeObserver(()=>{this.width=this.ticks.clientWidth,this.show()}).observe(this.ticks)}show(){let{model:model2}=this,
{where}=model2,span2=this.span=spanOf(model2),{from,step,steps}=span2,at2=model2.playing&&model2.moment?model2.moment.asked:where.at;this.slider.disabled=this.play.
disabled=!span2.kept,this.slider.max!==String(steps)&&(this.slider.max=String(steps)),this.waiting||(this.slider.value=String(at2?Math.max(0,Math.min(steps-1,Math.
round((at2-from)/step))):steps)),this.slider.title=`${when(from)} to now`,this.root.classList.toggle("past",where.at!==0),this.root.setAttribute("aria-busy",String(
model2.asking)),this.#words(at2),this.#buttons(),this.#choices(),this.#marks()}#words(at2){let{model:model2}=this,{moment:moment3}=model2,there2=moment3&&!moment3.
asking&&(moment3.asked===at2||model2.playing>0),none2=there2&&!moment3.overview&&!moment3.frame,time=at2?when(there2?moment3.at:at2):"now",ago2=at2?none2?"no da\
ta":there2?`${age((model2.clock.now()-moment3.at)/1e3)} ago`:"…":"";say(this.time,time),say(this.ago,ago2&&` · ${ago2}`),this.shown.classList.toggle("none",!!none2),
this.slider.setAttribute("aria-valuetext",ago2?`${time}, ${ago2}`:time)}#buttons(){let{model:model2,player:player2}=this,now=!model2.where.at;this.back.classList.
toggle("on",now),this.back.setAttribute("aria-pressed",String(now));let title=player2.playing?"Pause (p)":now?"Play the past, up to now (p)":"Play from here to \
now (p)";this.play.title=title,this.play.setAttribute("aria-label",title),this.play.classList.toggle("on",player2.playing),this.compare.disabled=now;let compared=now?
"Compare with now (c): go to the past first":"Compare with now (c)";this.compare.title=compared,this.compare.setAttribute("aria-label",compared),this.compare.setAttribute(
"aria-pressed",String(!now&&model2.where.compare)),document.activeElement!==this.speed&&(this.speed.value=String(player2.speed))}#choices(){let{range,choices,from,
to}=this.span;this.range.hidden=choices.length<2,syncRows(this.range,choices,String,name2=>el("option",{value:name2},rangeNames[name2]),()=>{}),this.range.value!==
range&&(this.range.value=range);let all=ticks({...this.span},Math.max(1,Math.floor(this.width/wide))),end={at:0,share:1,text:"now"},room=wide/Math.max(1,this.width);
syncRows(this.ticks,[...all.filter(t=>t.share>room/3&&t.share<1-.8*room),end],t=>String(t.at),()=>el("span",null),(row2,t)=>{say(row2,t.text),row2.style.setProperty(
"--at",String(t.share))});let{moment:moment3}=this.model,gap=moment3&&moment3.before>0&&!moment3.frame&&!moment3.overview;this.gap.hidden=!gap,gap&&(this.gap.style.
setProperty("--at",String(Math.max(0,(moment3.before-from)/(to-from)))),this.gap.style.setProperty("--to",String(Math.min(1,(moment3.asked-from)/(to-from)))))}#marks(){
let{from,to}=this.span;syncRows(this.marks,this.alarms.in(this.span),m=>`${m.kind} ${Math.round(m.at)}`,m=>el("button",{type:"button",class:m.kind,tabindex:-1,onclick:()=>this.
go(m.go)}),(row2,m)=>{let words3=m.texts.length>1?`${m.texts.length} alarms ${m.kind}: ${m.texts.slice(0,8).join("; ")}${m.texts.length>8?" …":""}`:`alarm ${m.
texts[0]}`;say(row2,m.kind==="raised"?"▲":"▽"),row2.title=words3,row2.setAttribute("aria-label",words3),row2.style.setProperty("--at",String((m.at-from)/(to-
from)))})}#learn(){let{model:model2,alarms}=this;model2.latest&&alarms.follow(model2.latest),model2.moment?.overview&&alarms.learn(model2.moment.overview),(model2.
moment||this.root.matches(":hover, :focus-within"))&&this.#look()}#look(){this.alarms.look(()=>this.show())}#slide(){clearTimeout(this.waiting),this.waiting=window.
setTimeout(()=>{this.waiting=0;let{from,step,steps}=this.span,value=Number(this.slider.value);this.go(value>=steps?0:from+value*step)},pause6)}go(at2){let{first,
to}=this.span;this.model.travel(!at2||at2>=to?0:Math.round(Math.max(first,at2)),this.model.where.at!==0)}step(steps){this.slider.disabled||this.go((this.model.where.
at||this.span.to)+steps*this.span.step)}leap(way){if(this.slider.disabled)return;this.#look();let at2=this.model.where.at||this.span.to,near2=this.alarms.in(this.
span).filter(m=>(m.go-at2)*way>1),next=near2[way<0?near2.length-1:0];next&&this.go(next.go)}toggleCompare(){let{model:model2}=this;model2.where.at&&model2.address.
go({compare:!model2.where.compare})}};var pause7=150,fresh2=5e3,most8=3,Tip=class{constructor(model2,views3){this.model=model2,this.views=views3,this.root=byId("tip"),this.node=-1,this.waiting=0,this.
known=new Map,model2.on("hover frame drawing",()=>this.show()),model2.on("drawing",()=>this.known.clear())}show(){let{model:model2,root}=this,stage2=this.views.
now,node=model2.where.table?-1:stage2.hovered,all=[node,...stage2.others.slice(0,most8)];if(node!==this.node){clearTimeout(this.waiting);let why=all.filter(i=>model2.
scene?.nodes[i]?.kind==="transition");why.length&&(this.waiting=window.setTimeout(()=>why.forEach(i=>this.#ask(i)),pause7))}if(this.node=node,root.hidden=node<0||
!model2.scene?.nodes[node],root.hidden)return;root.replaceChildren(...all.flatMap(i=>this.#node(i))),stage2.others.length>most8&&root.append(el("div",{class:"qu\
iet"},`and ${stage2.others.length-most8} more of this element`));let at2=stage2.where(node),left=Math.max(8,Math.min(stage2.width-root.offsetWidth-8,at2.x-root.
offsetWidth/2)),below2=at2.y+at2.h/2+14,top=below2+root.offsetHeight>stage2.height?at2.y-at2.h/2-14-root.offsetHeight:below2;root.style.transform=`translate(${Math.
round(left)}px, ${Math.round(Math.max(8,top))}px)`}#node(node){let n=this.model.scene?.nodes[node];return n?[el("strong",null,name(label(n))),...n.kind==="place"?
this.#place(node):this.#transition(n,node)]:[]}#place(node){let row2=this.model.shown?.places[node]??{},old=this.model.scene?.nodes[node].final?"finished work: \
no transition takes them":`oldest ${age(this.model.shown?.oldestAge(node,this.model.now()))}`,words3=row2.tokens===0?"empty":`${plural(row2.tokens,"token")}, ${old}`;
return[el("div",{class:"num"},words3)]}#transition(n,node){let{model:model2}=this,i=node-model2.scene.placeCount,row2=model2.shown?.transitions[i]??{},out=[el("\
div",{class:"num"},`${rate(row2.rate)}, enabled ${count(row2.enabled)}, running ${count(row2.running)}, blocked ${count(row2.blocked)}`)];row2.enabled&&out.push(
el("div",{class:"num quiet"},`enabled for ${age(model2.shown?.enabledAge(i,model2.now()))}`));let blocked2=model2.moment?[]:this.known.get(n.id)?.blocks.slice(0,
4)??[];for(let b of blocked2)out.push(el("div",{class:"reason"},`${b.text||b.reason} (${plural(b.instances,"instance")})`));return out}async#ask(node){let{model:model2}=this,
n=model2.scene?.nodes[node],known=n&&this.known.get(n.id);if(!(!n||model2.moment||known&&Date.now()-known.at<fresh2))try{let answer2=await ask("transition",{net:model2.
where.net,transition:n.id});this.known.size>100&&this.known.clear(),this.known.set(n.id,{at:Date.now(),blocks:answer2.blocks??[]}),(this.node===node||this.views.
now.others.includes(node))&&this.show()}catch{}}};var Views=class{constructor(model2,net2,bpmn2){Object.assign(this,{model:model2,net:net2,bpmn:bpmn2}),this.model=model2,this.net=net2,this.bpmn=bpmn2,this.root=
byId("view"),byId("view-bpmn").addEventListener("click",()=>this.choose(model2.large?"bpmn":"")),byId("view-net").addEventListener("click",()=>this.choose("net")),
model2.on("drawing address link",()=>this.show()),this.show()}get now(){return this.model.bpmn?this.bpmn:this.net}choose(view){this.model.address.go({view});let node=this.
model.selected();node>=0&&this.now.point(node)}toggle(){this.model.scene?.model?.digest&&this.choose(this.model.bpmn?"net":this.model.large?"bpmn":"")}show(){let{
model:model2}=this,m=model2.scene?.model,button2=byId("view-bpmn"),why=m?.missing||model2.bpmnTrouble;this.root.hidden=!m,button2.disabled=!!why;let asked=!why&&
model2.large&&!model2.bpmn;say(button2,asked?"Draw the BPMN anyway":"BPMN"),say(byId("view-why"),asked?`${plural(m?.elements.length,"element")}: the page does n\
ot answer while they are drawn as BPMN`:why?`No BPMN: ${why}`:""),button2.setAttribute("aria-pressed",String(model2.bpmn)),byId("view-net").setAttribute("aria-p\
ressed",String(!model2.bpmn)),byId("stage").classList.toggle("as-bpmn",model2.bpmn),byId("bpmn").hidden=!model2.bpmn||model2.where.table}};var theme=new Theme,model=new Model,canvas=byId("net"),stage=new Stage(model,canvas,theme),bpmn=new BpmnStage(model,byId("bpmn"),theme),views2=new Views(model,stage,
bpmn),help=new Help,player=new Player(model),timeline=new Timeline(model,byId("timeline"),player),share=new Share(model,stage,bpmn),lists=byId("lists");new Lists(
model,lists);new Panel(model,byId("panel"),theme);new Tables(model,byId("tables"),theme);new Tip(model,views2);new Banners(model);new Headline(model);new Minimap(
model,stage,theme);lookThere(model,stage);var sightBar=new SightBar(model,stage),search=new Search(model,match=>{if(match.kind==="net")return model.openNet(match.
id);if(match.kind==="data")return new Instances(model,new HeatScale(theme.now),"",match.id).open();let node=match.kind==="instance"?-1:model.scene?.find(match.kind,
match.id)??-1;node>=0&&model.bpmn?bpmn.point(node):node>=0&&stage.jump(node),model.select(match.kind,match.id)},()=>views2.now.focus());function showLists(open){
lists.classList.toggle("open",open),byId("menu").setAttribute("aria-expanded",String(open))}function hottest2(){let place3=model.scene?.nodes[model.hottest()];place3&&
(views2.now.point(model.hottest()),model.select("place",place3.id))}function back(){lists.classList.contains("open")?showLists(!1):model.where.kind?model.select(
"",""):model.where.around?sightBar.leave():model.where.at&&model.travel(0),document.activeElement===document.body&&views2.now.focus()}function toggleTable(){model.
address.go({table:!model.where.table}),model.where.table?byId("stage").focus():views2.now.focus()}for(let[root,view]of[[canvas,stage],[byId("bpmn"),bpmn]])walk(
root,view,text4=>say(byId("said"),text4));shortcuts({"/":()=>search.open(),"+":()=>views2.now.zoom(1.3),"=":()=>views2.now.zoom(1.3),"-":()=>views2.now.zoom(1/1.3),
0:()=>views2.now.fit(),t:toggleTable,b:()=>views2.toggle(),d:()=>theme.toggle(),l:()=>model.travel(0),h:hottest2,s:()=>share.open(),"?":()=>help.toggle(),Escape:back,
i:()=>new Instances(model,new HeatScale(theme.now),"").open(),q:()=>sightBar.collapse(),n:()=>sightBar.toggle(model.bpmn?bpmn.node:stage.cursor),"<":()=>sightBar.
step(-1),">":()=>sightBar.step(1),"[":()=>timeline.step(-1),"]":()=>timeline.step(1),"{":()=>timeline.leap(-1),"}":()=>timeline.leap(1),p:()=>player.toggle(),c:()=>timeline.
toggleCompare()});byId("zoom-in").addEventListener("click",()=>views2.now.zoom(1.3));byId("zoom-out").addEventListener("click",()=>views2.now.zoom(1/1.3));byId(
"zoom-fit").addEventListener("click",()=>views2.now.fit());byId("as-table").addEventListener("click",toggleTable);byId("theme").addEventListener("click",()=>theme.
toggle());byId("share-open").addEventListener("click",()=>share.open());byId("help-open").addEventListener("click",()=>help.toggle());byId("menu").addEventListener(
"click",()=>showLists(!lists.classList.contains("open")));lists.addEventListener("click",event=>event.target.closest("button")&&showLists(!1));byId("skip").addEventListener(
"click",event=>{event.preventDefault(),views2.now.focus()});var worth=el("span",{class:"worth"});function legend(){byId("legend").replaceChildren(heatLegend(new HeatScale(
theme.now)),worth)}theme.addEventListener("change",legend);legend();model.on("frame address drawing link",()=>{let worths=views2.now.moving?views2.now.flow.worths:
[];syncRows(worth,worths,String,w=>el("span",{class:"dot d"+Math.min(3,Math.round(Math.log10(w)))}),(row2,w)=>{let unit=w===worths[0]?" firings":"";say(row2,w===
1?"a firing":count(w)+unit)}),byId("as-table").setAttribute("aria-pressed",String(model.where.table))});model.start();
