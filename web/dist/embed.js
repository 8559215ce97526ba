/* SPDX-License-Identifier: Apache-2.0; made of web/page by go generate ./web */
var kinds=["place","transition","instance"],ranges=["6h","24h","7d"],views=["net","bpmn"],filters=["severity","of","alarm","acknowledged","silenced"];function parse(hash2){
let q=new URLSearchParams(hash2.replace(/^#/,"")),kind=kinds.find(k=>q.has(k))??"",at=Date.parse(q.get("at")??"");return{net:q.get("net")??"",kind,id:kind?q.get(
kind)??"":"",at:Number.isFinite(at)?at:0,range:ranges.find(r=>r===q.get("range"))??"",compare:q.has("compare"),table:q.has("table"),view:views.find(v=>v===q.get(
"view"))??"",quiet:q.has("quiet"),around:q.get("around")??"",steps:Math.max(1,Math.min(5,Math.round(Number(q.get("steps")))||1)),find:(q.get("q")??"").slice(0,200),
look:q.get("look")??"",filter:Object.fromEntries(filters.filter(f=>q.get(f)).map(f=>[f,q.get(f)]))}}function hash(where){let q=new URLSearchParams;where.net&&q.
set("net",where.net),where.kind&&q.set(where.kind,where.id),where.at&&q.set("at",new Date(where.at).toISOString()),where.at&&where.compare&&q.set("compare",""),
where.range&&q.set("range",where.range),where.table&&q.set("table","");for(let f of filters)where.filter[f]&&q.set(f,where.filter[f]);return where.view&&q.set("\
view",where.view),where.quiet&&q.set("quiet",""),where.around&&(q.set("around",where.around),q.set("steps",String(where.steps))),where.find&&q.set("q",where.find),
where.look&&q.set("look",where.look),"#"+q.toString()}var Address=class extends EventTarget{constructor(){super(),this.where=parse(location.hash),addEventListener(
"popstate",()=>this.#take(parse(location.hash))),addEventListener("hashchange",()=>this.#take(parse(location.hash)))}go(change,replace){let next={...this.where,
...change};hash(next)!==hash(this.where)&&(replace?history.replaceState(null,"",hash(next)):history.pushState(null,"",hash(next)),this.#take(next))}#take(next){
if(hash(next)===hash(this.where))return;let before=this.where;this.where=next,this.dispatchEvent(new CustomEvent("change",{detail:before}))}};function count(n){if(n==null)return"–";for(let[size3,letter]of[[1e9,"G"],[1e6,"M"],[1e4,"k"]])if(n>=size3)return digits(n/(letter==="k"?1e3:size3))+letter;return String(
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
var hostile=/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;function visible(text3){return text3.replace(hostile,c=>"\\u"+
c.charCodeAt(0).toString(16).padStart(4,"0"))}function short(text3,length){let line2=text3.slice(0,4*length+4).replace(/\s+/g," "),points=Array.from(line2);return points.
length<=length&&text3.length<=line2.length?line2:points.slice(0,length-1).join("").trimEnd()+"…"}function twoLines(text3,width){let line2=short(text3,2*width);
if(Array.from(line2).length<=width)return[line2];let at=line2.lastIndexOf(" ",width);return at<=0?[short(text3,width)]:[line2.slice(0,at),short(line2.slice(at+1),
width)]}function plural(n,one,many){return`${count(n)} ${n===1?one:many??one+"s"}`}function el(tag2,attributes,...children){return fill(document.createElement(tag2),attributes,children)}function fill(element,attributes,children){for(let[key3,value]of Object.entries(attributes??{}))key3.startsWith("on")?element.addEventListener(key3.slice(2),value):
value===!0?element.setAttribute(key3,""):value!==!1&&value!=null&&element.setAttribute(key3,key3.startsWith("data-")?String(value):visible(String(value)));for(let child of children)
child&&element.append(typeof child=="string"?visible(child):child);return element}function name(text3,id){return el("bdi",{class:"name",title:id??text3},text3)}
function byId(id){let found=document.getElementById(id);if(!found)throw new Error(`the page has no element ${id}`);return found}function say(node,text3){text3=visible(
text3),node.textContent!==text3&&(node.textContent=text3)}function syncRows(parent,items,key3,make,update){let old=new Map;for(let child of parent.children)old.
set(child.getAttribute("data-key")??"",child);let next=parent.firstElementChild;for(let item of items){let k=key3(item),row2=old.get(k);row2?old.delete(k):(row2=
make(item),row2.setAttribute("data-key",k)),row2===next?next=next.nextElementSibling:parent.insertBefore(row2,next),update(row2,item)}for(let row2 of old.values())
row2.remove()}var young=10,Badge=class{constructor(flow){this.flow=flow,this.tokens=el("b",{class:"held num"}),this.age=el("span",{class:"since num"}),this.change=el("span",{
class:"change num"}),this.stop=el("span",{class:"stop"},"⊖"),this.held=el("div",{class:"state"},this.tokens,this.age,this.stop,this.change),this.rate=el("div",
{class:"rate num"}),this.written=""}show(state,scale,change){let{tokens,age:age3}=state,held=tokens?count(tokens):tokens===null&&!this.flow?"–":"",since=tokens&&
age3&&age3>=young?shortAge(age3):"",often=state.rate?rate(state.rate):"",written=[held,since,often,state.blocked,scale.fill(state.heat),change].join();return written===
this.written?!1:(this.written=written,say(this.tokens,held),say(this.age,since),this.stop.hidden=!state.blocked,say(this.change,change),this.held.hidden=!change&&
!tokens&&!state.blocked&&(tokens!==null||this.flow),this.held.classList.toggle("old",state.heat>.5),this.held.style.setProperty("--fill",scale.fill(state.heat)),
this.held.style.setProperty("--on-fill",scale.ink(state.heat)),say(this.rate,often),this.rate.hidden=!often,!0)}};var ApiError=class extends Error{constructor(status,text3){super(text3),this.status=status}};async function ask(what,query2,signal){return read(await fetch(address(
what,query2),{signal,headers:{Accept:"application/json"}}))}async function text(what,query2){let answer2=await fetch(address(what,query2));return answer2.ok?answer2.
text():read(answer2)}async function read(answer2){if(answer2.ok)return answer2.json();let text3=answer2.statusText;try{text3=(await answer2.json()).error??text3}catch{}throw new ApiError(
answer2.status,text3)}function address(what,query2){let parameters=new URLSearchParams(query2).toString();return`api/v1/${what}${parameters&&"?"+parameters}`}function measured(points){let lengths=[0];for(let i=1;i<points.length;i++)lengths.push(lengths[i-1]+Math.hypot(points[i][0]-points[i-1][0],points[i][1]-points[i-
1][1]));return{points,lengths,length:lengths[lengths.length-1]}}function along(arc,distance){let{points,lengths}=arc,i=1;for(;i<lengths.length-1&&lengths[i]<distance;)
i++;let share=Math.max(0,Math.min(1,(distance-lengths[i-1])/Math.max(1e-9,lengths[i]-lengths[i-1]))),[ax,ay]=points[i-1],[bx,by]=points[i];return[ax+(bx-ax)*share,
ay+(by-ay)*share]}var travel=1100,most=240,fastest=10,Flow=class{constructor(){this.transitions=[],this.firings=[],this.last=0}draw(scene){let transitions=[];for(let node=scene?.
placeCount??0;scene&&node<scene.nodes.length;node++){let arcs=scene.arcsOf[node].map(a=>scene.arcs[a]).filter(a=>a.kind==="normal");transitions.push({row:node-(scene?.
placeCount??0),ins:arcs.filter(a=>a.to===node),outs:arcs.filter(a=>a.from===node)})}this.take(transitions)}take(transitions){this.firings=[],this.transitions=transitions.
map(t=>({...t,rate:0,worth:1,due:t.row*.618%1}))}measure(frame,times=1){for(let bound=fastest;bound>fastest/1e3;bound/=10){let dots=0;if(this.transitions.forEach(
t=>{t.rate=Math.max(0,frame?.transitions[t.row]?.rate??0)*times,t.worth=10**Math.max(0,Math.ceil(Math.log10(t.rate/bound))),dots+=t.rate/t.worth*Math.max(t.ins.
length,t.outs.length)*travel/1e3}),dots<=most*.8)return}}get worths(){return[...new Set(this.transitions.filter(t=>t.rate>0).map(t=>t.worth))].sort((a,b)=>a-b)}get busy(){
return this.firings.length>0||this.transitions.some(t=>t.rate>0)}step(time){let seconds=Math.min(.25,Math.max(0,(time-this.last)/1e3));this.last=time,this.firings=
this.firings.filter(f=>time-f.begun<travel),this.transitions.forEach((t,i)=>{for(t.due+=t.rate/t.worth*seconds;t.due>=1;t.due--)this.firings.length<most&&this.firings.
push({transition:i,worth:t.worth,begun:time-Math.min(seconds*1e3,(t.due-1)*1e3*t.worth/t.rate)})})}dots(time,grown,seen2,dot2){let left=most;for(let f of this.firings){
let share=(time-f.begun)/travel,t=this.transitions[f.transition],[arcs,part]=share<.5?[t.ins,share*2]:[t.outs,share*2-1];for(let arc of arcs){if(!seen2(arc))continue;
if(left--<=0)return;let begin=grown(arc.from),[x,y]=along(arc,begin+Math.max(0,arc.length-begin-grown(arc.to))*part*part*(3-2*part));dot2(x,y,f.worth)}}}};function middle({waypoints}){let best={x:waypoints[0].x,y:waypoints[0].y},longest=-1;for(let i=1;i<waypoints.length;i++){let[a,b]=[waypoints[i-1],waypoints[i]],
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
1][1]);length>longest&&([longest,cut]=[length,i])}let at=middle(flow);return[measured([...points.slice(0,cut),[at.x,at.y]]),measured([[at.x,at.y],...points.slice(
cut)])]}var Camera=class{constructor(){this.x=0,this.y=0,this.scale=1,this.fitScale=1,this.touched=!1}toWorld(x,y){return[(x-this.x)/this.scale,(y-this.y)/this.scale]}pan(dx,dy){
this.x+=dx,this.y+=dy,this.touched=!0}shift(dx,dy){this.x+=dx,this.y+=dy}zoom(factor,x,y){let scale=Math.max(Math.min(.4,this.fitScale*.5),Math.min(4,this.scale*
factor)),[wx,wy]=this.toWorld(x,y);this.scale=scale,this.x=x-wx*scale,this.y=y-wy*scale,this.touched=!0}fit(box,width,height,foot=0){let margin2=Math.min(48,width/
14);height-=Math.max(0,foot-margin2);let w=box.right-box.left,h=box.bottom-box.top;this.scale=Math.min(1.2,(width-2*margin2)/Math.max(1,w),(height-2*margin2)/Math.
max(1,h)),this.fitScale=this.scale,this.x=width/2-(box.left+box.right)/2*this.scale,this.y=height/2-(box.top+box.bottom)/2*this.scale,this.touched=!1}center(wx,wy,width,height,scale=.85){
this.scale=Math.max(this.scale,scale),this.x=width/2-wx*this.scale,this.y=height/2-wy*this.scale,this.touched=!0}to(wx,wy,width,height,scale){this.zoom(scale/this.
scale,0,0),this.x=width/2-wx*this.scale,this.y=height/2-wy*this.scale}reveal(wx,wy,width,height){let sx=wx*this.scale+this.x,sy=wy*this.scale+this.y,margin2=Math.
min(80,width/5),dx=Math.max(0,margin2-sx)-Math.max(0,sx-(width-margin2)),dy=Math.max(0,margin2-sy)-Math.max(0,sy-(height-margin2));(dx||dy)&&this.pan(dx,dy)}};function sight(model2,alarmed){let{scene,where}=model2,marks3=new Uint8Array(scene?.nodes.length??0);if(!scene)return marks3;where.quiet&&markQuiet(model2,scene,
alarmed,marks3);let center=centerOf(model2);if(center>=0){let near2=around(scene,center,where.steps);for(let i=0;i<marks3.length;i++)near2.has(i)||(marks3[i]=2);
marks3[center]=0}return marks3}function centerOf({scene,where}){let[kind,...id]=where.around.split(" ");return where.around&&scene?scene.find(kind,id.join(" ")):
-1}function around(scene,center,steps){let near2=new Set([center]),edge=[center];for(let k=0;k<steps;k++){let next=[];for(let node of edge)for(let a of scene.arcsOf[node]){
let other=scene.arcs[a].from===node?scene.arcs[a].to:scene.arcs[a].from;near2.has(other)||(near2.add(other),next.push(other))}edge=next}return near2}function markQuiet(model2,scene,alarmed,marks3){
let frame=model2.shown;if(!frame)return;let selected=model2.selected(),traced=new Set(model2.traced);scene.nodes.forEach((node,i)=>{if(i===selected||alarmed.has(
i))return;if(i<scene.placeCount){frame.places[i]?.tokens===0&&!traced.has(node.id)&&(marks3[i]=1);return}let t=frame.transitions[i-scene.placeCount];t?.rate===0&&
!t.enabled&&!t.running&&!t.blocked&&(marks3[i]=1)})}var aside=1e6;function arranged(whole,part){let key3=n=>`${n.kind} ${n.id}`,placed=new Map(part.nodes.map(n=>[
key3(n),n])),name2=(d,a)=>JSON.stringify([key3(d.nodes[a.from]),key3(d.nodes[a.to]),a.kind]),ways2=new Map;for(let a of part.arcs)ways2.set(name2(part,a),[...ways2.
get(name2(part,a))??[],a]);return{...whole,nodes:whole.nodes.map(n=>({...n,...placed.get(key3(n))??{x:n.x-aside}})),arcs:whole.arcs.map(a=>({...a,points:ways2.get(
name2(whole,a))?.shift()?.points??a.points}))}}function boxOf(scene,marks3){let box={left:1/0,top:1/0,right:-1/0,bottom:-1/0};return scene.nodes.forEach((n,i)=>{
marks3[i]!==2&&(box.left=Math.min(box.left,n.x-n.w/2-40),box.right=Math.max(box.right,n.x+n.w/2+40),box.top=Math.min(box.top,n.y-n.h/2-20),box.bottom=Math.max(box.
bottom,n.y+n.h/2+40))}),box.right>box.left?box:scene.box}var font='system-ui, -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif',fontOf=(weight,size3)=>`${weight} ${size3}px ${font}`,detail={shapes:.12,
marks:.24,ages:.5,labels:.7,arrows:.22,names:.12},ArcPainter=class{constructor(ctx,palette){this.ctx=ctx,this.palette=palette,this.scale=1,this.x=0,this.y=0,this.
width=0,this.height=0}links({nodes},marks3,links){let{ctx,scale,x,y}=this;ctx.strokeStyle=this.palette.arc,ctx.lineWidth=.8,ctx.setLineDash([2,4]),ctx.beginPath();
for(let arc of links){if(!this.#passes(arc.box))continue;let from=nodes[arc.from],to=nodes[arc.to],way=[...arc.points];marks3[arc.from]===1&&way.unshift([from.x,
from.y]),marks3[arc.to]===1&&way.push([to.x,to.y]),way.forEach(([px,py],i)=>i?ctx.lineTo(px*scale+x,py*scale+y):ctx.moveTo(px*scale+x,py*scale+y))}ctx.stroke(),
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
return}for(let back of arc.kind==="reset"?[0,size3]:[0]){let tx=sx-Math.cos(angle)*back,ty=sy-Math.sin(angle)*back;ctx.beginPath(),ctx.moveTo(tx,ty),ctx.lineTo(
tx-size3*Math.cos(angle-.42),ty-size3*Math.sin(angle-.42)),ctx.lineTo(tx-size3*Math.cos(angle+.42),ty-size3*Math.sin(angle+.42)),ctx.fill()}}#weight(arc,colour){
let[px,py]=along(arc,arc.length/2);this.pill(`×${count(arc.weight)}`,px*this.scale+this.x,py*this.scale+this.y,colour)}pill(text3,x,y,colour){let{ctx}=this;ctx.
font=`10.5px ${font}`;let w=ctx.measureText(text3).width+4;ctx.fillStyle=this.palette.ground,ctx.fillRect(x-w/2,y-6.5,w,13),ctx.fillStyle=colour,ctx.fillText(text3,
x,y+.5)}};var steady=.1;function placeChange(then,now,passed,calm){let same3=!calm&&then?.since&&then.since===now?.since;return{then:then?.tokens,now:now?.tokens,by:less(
now?.tokens,then?.tokens),aged:same3?passed:0}}function brief({by}){return by?signed(by):""}function less(a,b){return a==null||b==null?null:a-b}function otherRate(then,now){
return then!=null&&now!=null&&Math.abs(then-now)>steady*Math.max(then,now)}var detail2={numbers:.24,ages:.5},size=11;function paintChanges(ctx,palette,model2,view){let{scene,shown,current}=model2;if(!scene||!shown||!current||current.drawing!==
shown.drawing)return;let passed=(model2.clock.now()-model2.at)/1e3;ctx.textAlign="center",ctx.textBaseline="middle",scene.nodes.forEach((node,i)=>{if(view.marks[i])
return;let x=node.x*view.scale+view.x,y=node.y*view.scale+view.y;if(i>=scene.placeCount)return rateChange(ctx,palette,shown.transitions[i-scene.placeCount],current.
transitions[i-scene.placeCount],x,y+node.h/2*view.scale,view.scale);let change=placeChange(shown.places[i],current.places[i],passed,node.calm),r=scene.radius(i,
view.scale);if(view.scale<detail2.numbers)return wedge(ctx,palette,change.by,x+r,y-r);let aged=change.aged&&view.scale>=detail2.ages?`same, +${shortAge(change.aged)}`:
"",text3=[brief(change),aged].filter(Boolean).join(" · ");text3&&tag(ctx,palette,text3,x+r*.85,y-r-4,"start")})}function wedge(ctx,palette,by,x,y){if(!by)return;
let up=by>0?1:-1;ctx.fillStyle=palette.past,ctx.beginPath(),ctx.moveTo(x,y-4*up),ctx.lineTo(x-4,y+3*up),ctx.lineTo(x+4,y+3*up),ctx.fill()}function rateChange(ctx,palette,then,now,x,y,scale){
scale>=detail2.ages&&otherRate(then?.rate,now?.rate)&&tag(ctx,palette,`→ ${rate(now?.rate)}`,x,y+(then?.rate?23:9),"middle")}function tag(ctx,palette,text3,x,y,from){
ctx.font=fontOf(600,size);let w=ctx.measureText(text3).width+8,left=from==="start"?x-4:x-w/2;ctx.beginPath(),ctx.roundRect(left,y-7.5,w,15,4),ctx.fillStyle=palette.
pastSoft,ctx.fill(),ctx.lineWidth=1,ctx.strokeStyle=palette.past,ctx.stroke(),ctx.fillStyle=palette.past,ctx.fillText(text3,left+w/2,y+.5)}function gestures(element,on){let pointers=new Map,moved=0,point=event=>{let box=element.getBoundingClientRect();return{x:event.clientX-box.left,y:event.clientY-
box.top}};element.addEventListener("pointerdown",event=>{event.button===0&&(element.setPointerCapture(event.pointerId),pointers.set(event.pointerId,point(event)),
pointers.size===1&&(moved=0))}),element.addEventListener("pointermove",event=>{let at=point(event),before=pointers.get(event.pointerId);if(!before){pointers.size===
0&&on.hover(at.x,at.y);return}let old=[...pointers.values()];pointers.set(event.pointerId,at),moved+=Math.hypot(at.x-before.x,at.y-before.y),moved>5&&spread(old,
[...pointers.values()],on)});for(let end of["pointerup","pointercancel"])element.addEventListener(end,event=>{if(!pointers.delete(event.pointerId)||end==="point\
ercancel")return;let at=point(event);moved<=5&&pointers.size===0&&on.click(at.x,at.y)});element.addEventListener("pointerleave",()=>pointers.size===0&&on.leave()),
element.addEventListener("wheel",event=>{event.preventDefault();let at=point(event),lines=event.deltaMode===WheelEvent.DOM_DELTA_LINE?16:1;on.zoom(Math.exp(-Math.
max(-240,Math.min(240,event.deltaY*lines))*(event.ctrlKey?.008:.0016)),at.x,at.y)},{passive:!1})}function spread(before,after,on){let n=Math.min(2,after.length),
middle2=p=>({x:p.slice(0,n).reduce((a2,b2)=>a2+b2.x,0)/n,y:p.slice(0,n).reduce((a2,b2)=>a2+b2.y,0)/n}),a=middle2(before),b=middle2(after);if(on.pan(b.x-a.x,b.y-
a.y),n<2)return;let width=p=>Math.hypot(p[0].x-p[1].x,p[0].y-p[1].y);width(before)>0&&on.zoom(width(after)/width(before),b.x,b.y)}var size2=10.5,line=12,perCharacter=5.9,cell=40,rings=[20,34,50,70,95,125,160,200,250,320,400],directions=24,overhang=16,dot=3.6,numbered=7,smallFont=size2,smallLine=line,
below=3*line,Labels=class{constructor(scene){this.scene=scene,this.written=[],this.nodes={key:"",taken:new Taken},this.key="",this.texts=new Taken,this.ages=new Map}age(place,scale,radius,labelled,sight2){
let nodes=this.#nodes(scale,radius,labelled,sight2);labelled&&this.#begin(this.nodes.key);let found=this.ages.get(place);if(found!==void 0)return found;let n=this.
scene.nodes[place],r=radius(place)+7,at=[[0,-r-7],[r+12,-r],[-r-12,-r],[r+15,0],[-r-15,0]].map(([dx,dy])=>({x:n.x*scale+dx,y:n.y*scale+dy})).find(p=>nodes.free(
ageBox(p))&&this.texts.free(ageBox(p)))??null;return at&&this.texts.add(ageBox(at)),this.ages.set(place,at),at}#begin(key3){return key3===this.key?!1:(Object.assign(
this,{key:key3,texts:new Taken,ages:new Map,written:[]}),!0)}#nodes(scale,radius,labelled,{marks:marks3,version,only}){let key3=[scale.toFixed(4),labelled,only,
version].join();if(this.nodes.key===key3)return this.nodes.taken;let taken=new Taken;this.nodes={key:key3,taken};let{nodes,placeCount,labels}=this.scene;return nodes.
forEach((n,i)=>{if(marks3[i])return;let least=i<placeCount?Math.max(radius(i),only?dot:0):1.5,w=Math.max(n.w*scale/2,least),h=Math.max(n.h*scale/2,least);if(taken.
add({left:n.x*scale-w,right:n.x*scale+w,top:n.y*scale-h,bottom:n.y*scale+h}),!labelled||i>=placeCount)return;let half=Math.max(...labels[i].map(l=>l.length))*perCharacter*
scale*1.15/2;taken.add({left:n.x*scale-half,right:n.x*scale+half,top:n.y*scale+h,bottom:n.y*scale+h+(8+14*labels[i].length)*scale})}),taken}lay(scale,radius,first,sight2){
let nodes=this.#nodes(scale,radius,!1,sight2);if(!this.#begin([this.nodes.key,...first].join()))return this.written;let{placeCount}=this.scene;for(let i of first)
this.age(i,scale,radius,!1,sight2);let early=new Set(first);for(let i of first)this.#write(i,scale,radius(i),nodes,!0);for(let i=0;i<placeCount&&!sight2.only;i++)
!sight2.marks[i]&&!early.has(i)&&this.#write(i,scale,radius(i),nodes,!1);return this.written}#write(i,scale,r,nodes,first){let n=this.scene.nodes[i],lines=twoLines(
label(n),14),half=Math.max(...lines.map(l=>l.length))*perCharacter/2,count2=lines.length+Number(first&&r<numbered),high=(count2-1)*line,[x,y]=[n.x*scale,n.y*scale],
box=p=>({left:p.x-half,right:p.x+half,top:p.y-line/2+1,bottom:p.y+(count2-.5)*line}),free=p=>nodes.free(box(p))&&this.texts.free(box(p)),under={x,y:y+r+7+line/2},
beside3=[{x,y:y-r-9-high-line/2},{x:x+r+6+half,y:y-high/2},{x:x-r-6-half,y:y-high/2}],{left,right,bottom}=this.scene.box,above=p=>box(p).bottom<bottom*scale+below&&
free(p),near2=(first?[under,...beside3]:[under]).find(above),at=near2??(first?farther(x,y,half,high,p=>p.x-half>left*scale-overhang&&p.x+half<right*scale+overhang&&
above(p))??farther(x,y,half,high,above):null);if(!at)return;this.texts.add(box(at));let share=(r+5)/Math.hypot(at.x-x,at.y-y);this.written.push({node:i,lines,...at,
...near2?{}:{from:[x+(at.x-x)*share,y+(at.y-y)*share]}})}};function farther(x,y,half,high,free){for(let r of rings)for(let k=0;k<directions;k++){let angle=(k+5)*
2*Math.PI/directions,p={x:x+Math.cos(angle)*(r+Math.min(half,r)),y:y+Math.sin(angle)*r-high/2};if(free(p))return p}return null}function ageBox({x,y}){return{left:x-
14,right:x+14,top:y-6.5,bottom:y+6.5}}var Taken=class{constructor(){this.cells=new Map}add(box){for(let x=Math.floor(box.left/cell);x<=Math.floor(box.right/cell);x++)
for(let y=Math.floor(box.top/cell);y<=Math.floor(box.bottom/cell);y++){let boxes=this.cells.get(x*1e6+y);boxes?boxes.push(box):this.cells.set(x*1e6+y,[box])}}free(box){
for(let x=Math.floor(box.left/cell);x<=Math.floor(box.right/cell);x++)for(let y=Math.floor(box.top/cell);y<=Math.floor(box.bottom/cell);y++)for(let b of this.cells.
get(x*1e6+y)??[])if(b.left<box.right&&box.left<b.right&&b.top<box.bottom&&box.top<b.bottom)return!1;return!0}};var marks=Object.freeze([[1,"1s"],[10,"10s"],[60,"1m"],[600,"10m"],[3600,"1h"]]),hottest=Math.log10(3600),levels=48,ramps=Object.freeze({light:["#dce8f4","#ffe3\
a3","#ffb35c","#ea6a4a","#ad2a6c","#4c0f5e"],dark:["#24364f","#4a3f8c","#97438f","#dd5f5f","#fca34a","#fff0a8"]});function heat(age3){return!age3||age3<=1?0:Math.
min(1,Math.log10(age3)/hottest)}function channels(hex){return[1,3,5].map(i=>parseInt(hex.slice(i,i+2),16))}var HeatScale=class _HeatScale{constructor(theme2){let ramp=ramps[theme2].
map(channels);this.fills=[],this.inks=[];for(let i=0;i<=levels;i++){let at=i/levels*(ramp.length-1),k=Math.min(ramp.length-2,Math.floor(at)),rgb=ramp[k].map((c,j)=>Math.
round(c+(ramp[k+1][j]-c)*(at-k)));this.fills.push(`rgb(${rgb.join(", ")})`),this.inks.push(.299*rgb[0]+.587*rgb[1]+.114*rgb[2]>138?"#10141b":"#f5f7fa")}}cold(){
let scale=Object.assign(Object.create(_HeatScale.prototype),this);return scale.fills=this.fills.map(()=>this.fills[0]),scale.inks=this.inks.map(()=>this.inks[0]),
scale}fill(h){return this.fills[Math.round(h*levels)]}ink(h){return this.inks[Math.round(h*levels)]}};var fontSize=12,lineHeight=14,labelGap=8,alwaysNamed=6,alarmsNamed=60,Painter=class extends ArcPainter{paint(scene,frame,view){Object.assign(this,{scale:view.scale,
x:view.x,y:view.y,width:view.width,height:view.height});let{ctx}=this;ctx.fillStyle=this.palette.ground,ctx.fillRect(0,0,view.width,view.height),ctx.lineCap="ro\
und",ctx.lineJoin="round",ctx.textAlign="center",ctx.textBaseline="middle";let{marks:marks3}=view,drawn=scene.arcs.filter(a=>marks3[a.from]!==2&&marks3[a.to]!==
2),links=drawn.filter(a=>marks3[a.from]===1||marks3[a.to]===1);this.arcs(scene,links.length?drawn.filter(a=>!marks3[a.from]&&!marks3[a.to]):drawn,this.palette.arc,
1.25),this.links(scene,marks3,links);let old=frame?.byAge(scene.nodes).filter(i=>!marks3[i]).slice(0,alwaysNamed).filter(i=>(frame.oldestAge(i,view.now)??0)>=60)??
[],named=new Set([...[...view.alarmed].filter(i=>i<scene.placeCount&&!marks3[i]).slice(0,alarmsNamed),...old]);this.scale<detail.shapes&&this.#dots(scene,frame,
view),scene.nodes.forEach((node,i)=>{marks3[i]||!this.#seen(node)||this.scale<detail.shapes&&!named.has(i)&&!view.alarmed.has(i)||(i<scene.placeCount?this.#place(
node,scene.radius(i,this.scale),i,frame,view):this.#transition(node,i,i-scene.placeCount,frame,view))});let sight2={marks:marks3,version:view.version,only:this.
scale<detail.names};this.scale>=detail.labels?this.#labels(scene,view.alarmed,marks3):this.#names(scene,[...named],frame,view.now,sight2),frame&&this.#ages(scene,
frame,view.now,named,sight2)}#dots(scene,frame,{now,marks:marks3}){let{ctx,palette,scale,x,y}=this,dots=new Map,bars=new Map([[palette.line,[]],[palette.dot,[]]]);
scene.nodes.forEach((node,i)=>{if(marks3[i]||!this.#seen(node))return;let sx=node.x*scale+x,sy=node.y*scale+y;if(i>=scene.placeCount){let w=Math.max(1.5,node.w*
scale),h2=Math.max(1.5,node.h*scale);bars.get(frame?.transitions[i-scene.placeCount]?.rate?palette.dot:palette.line)?.push([sx-w/2,sy-h2/2,w,h2]);return}let tokens=frame?.
places[i]?.tokens,h=node.calm||!frame||!tokens?0:heat(frame.oldestAge(i,now)),fill2=tokens?palette.heat.fill(h):palette.arc,r=scene.radius(i,scale),dot2=[sx,sy,
tokens?Math.max(1.6+2*h,r):Math.max(.8,r/2)],same3=dots.get(fill2);same3?same3.push(dot2):dots.set(fill2,[dot2])}),ctx.globalAlpha=.45;for(let[fill2,all]of bars){
ctx.fillStyle=fill2,ctx.beginPath();for(let bar of all)ctx.rect(...bar);ctx.fill()}ctx.globalAlpha=1;for(let[fill2,all]of dots){ctx.fillStyle=fill2,ctx.beginPath();
for(let[sx,sy,r]of all)ctx.moveTo(sx+r,sy),ctx.arc(sx,sy,r,0,2*Math.PI);ctx.fill()}}#seen(node){let sx=node.x*this.scale+this.x,sy=node.y*this.scale+this.y,room=60+
(node.w+node.h)*this.scale;return sx>-room&&sy>-room&&sx<this.width+room&&sy<this.height+room}ring(scene,node,colour,thick,dash,room=6){let{ctx,scale}=this,n=scene.
nodes[node],[x,y,w,h]=[n.x*scale+this.x,n.y*scale+this.y,n.w*scale,n.h*scale];ctx.setLineDash(dash),ctx.lineWidth=thick,ctx.strokeStyle=colour,ctx.beginPath(),n.
kind==="place"?ctx.arc(x,y,scene.radius(node,scale)+room,0,2*Math.PI):ctx.roundRect(x-w/2-room,y-h/2-room,w+2*room,h+2*room,7),ctx.stroke(),ctx.setLineDash([])}#place(node,r,row2,frame,view){
let{ctx,palette}=this,sx=node.x*this.scale+this.x,sy=node.y*this.scale+this.y,tokens=frame?.places[row2]?.tokens,age3=frame?frame.oldestAge(row2,view.now):null,
h=node.calm?0:heat(age3);if(h>.5&&this.#glow(sx,sy,r,h),ctx.beginPath(),ctx.arc(sx,sy,r,0,2*Math.PI),ctx.fillStyle=tokens?node.calm?palette.finished:palette.heat.
fill(h):palette.empty,ctx.fill(),this.#outline(row2,view),h>0&&r>6&&this.#gauge(sx,sy,r,h),r>=numbered&&tokens!==0){let text3=tokens==null?"–":count(tokens);ctx.
font=`600 ${Math.min(Math.max(15,r*.6),r*(text3.length>3?.66:.95)).toFixed(1)}px ${font}`,ctx.fillStyle=tokens?node.calm?palette.ink:palette.heat.ink(h):palette.
quiet,ctx.fillText(text3,sx,sy+.5)}}#ages(scene,frame,now,named,sight2){for(let i of this.scale>=detail.ages?Array(scene.placeCount).keys():named){let age3=this.
scale<detail.labels&&scene.radius(i,this.scale)<numbered||scene.nodes[i].calm||sight2.marks[i]||!this.#seen(scene.nodes[i])?0:frame.oldestAge(i,now),at=age3&&age3>=
10&&scene.names.age(i,this.scale,p=>scene.radius(p,this.scale),this.scale>=detail.labels,sight2);at&&this.pill(shortAge(age3),at.x+this.x,at.y+this.y,this.palette.
ink)}}#glow(x,y,r,h){let{ctx}=this;ctx.fillStyle=this.palette.heat.fill(h);for(let[reach,alpha]of[[1.75,.08],[1.45,.13]])ctx.globalAlpha=alpha*(.5+h),ctx.beginPath(),
ctx.arc(x,y,Math.max(r*reach,r+3),0,2*Math.PI),ctx.fill();ctx.globalAlpha=1}#gauge(x,y,r,h){let{ctx}=this;ctx.beginPath(),ctx.arc(x,y,r+3,-Math.PI/2,-Math.PI/2+
h*2*Math.PI),ctx.lineWidth=Math.max(1.5,Math.min(3,r/7)),ctx.strokeStyle=this.palette.heat.fill(h),ctx.stroke()}#outline(i,{alarmed,doubted}){let{ctx,palette}=this;
ctx.lineWidth=alarmed.has(i)?2.5:1.25,ctx.strokeStyle=alarmed.has(i)&&!doubted.has(i)?palette.bad:alarmed.has(i)?palette.warn:palette.line,ctx.setLineDash(doubted.
has(i)?[5,4]:[]),ctx.stroke(),ctx.setLineDash([])}#transition(node,i,row2,frame,view){let{ctx,palette}=this,sx=node.x*this.scale+this.x,sy=node.y*this.scale+this.
y,w=Math.max(3,node.w*this.scale),h=Math.max(3,node.h*this.scale),{rate:perSecond,running,blocked}=frame?.transitions[row2]??{};if(ctx.beginPath(),ctx.roundRect(
sx-w/2,sy-h/2,w,h,Math.min(4,w/4)),ctx.fillStyle=perSecond?palette.barLive:palette.bar,ctx.fill(),this.#outline(i,view),blocked&&this.scale>=detail.marks&&this.#blocked(
sx+w/2,sy-h/2,running?palette.quiet:palette.bad),this.scale<detail.ages||!frame)return;let text3=perSecond==null?"–":perSecond>0?rate(perSecond):"";text3&&this.
pill(text3,sx,sy+h/2+9,perSecond?palette.accent:palette.quiet)}#blocked(x,y,colour){let{ctx}=this,r=Math.max(3,Math.min(5.5,7*this.scale));ctx.beginPath(),ctx.arc(
x,y,r,0,2*Math.PI),ctx.fillStyle=this.palette.ground,ctx.fill(),ctx.strokeStyle=colour,ctx.lineWidth=1.5,ctx.stroke(),ctx.beginPath(),ctx.moveTo(x-r*.5,y),ctx.lineTo(
x+r*.5,y),ctx.stroke()}#names(scene,first,frame,now,sight2){let{ctx,scale,palette}=this;ctx.font=`${smallFont}px ${font}`;let written=scene.names.lay(scale,i=>scene.
radius(i,scale),first,sight2);ctx.lineWidth=.8,ctx.strokeStyle=palette.quiet,ctx.beginPath();for(let{node,lines,x,y,from}of written)!from||!this.#seen(scene.nodes[node])||
(ctx.moveTo(from[0]+this.x,from[1]+this.y),ctx.lineTo(x+this.x,y+this.y+(lines.length-1)/2*smallLine));ctx.stroke();for(let{node,lines,x,y}of[...written].reverse()){
if(!this.#seen(scene.nodes[node]))continue;let numbers=frame&&first.includes(node)&&scene.radius(node,scale)<numbered?[[count(frame.places[node]?.tokens),!scene.
nodes[node].calm&&shortAge(frame.oldestAge(node,now))].filter(Boolean).join(", ")]:[];[...lines,...numbers].forEach((text3,k)=>{ctx.lineWidth=3,ctx.strokeStyle=
palette.ground,ctx.strokeText(text3,x+this.x,y+this.y+k*smallLine),ctx.fillStyle=palette.ink,ctx.fillText(text3,x+this.x,y+this.y+k*smallLine)})}}#labels(scene,alarmed,marks3){
let{ctx,palette,scale}=this,line2=lineHeight*scale;ctx.font=`${(fontSize*scale).toFixed(2)}px ${font}`,ctx.fillStyle=palette.ink,ctx.strokeStyle=palette.ground,
ctx.lineWidth=4;for(let i of[...scene.nodes.keys()].filter(n=>!alarmed.has(n)).concat(...alarmed)){let node=scene.nodes[i];if(marks3[i]||!this.#seen(node))continue;
let lines=scene.labels[i],sx=node.x*scale+this.x,sy=node.y*scale+this.y,first=i<scene.placeCount?sy+(node.h/2+labelGap)*scale+line2/2:sy-(lines.length-1)/2*line2;
lines.forEach((text3,k)=>{i<scene.placeCount&&ctx.strokeText(text3,sx,first+k*line2),ctx.fillText(text3,sx,first+k*line2)})}}};var Palette=class{constructor(theme2){let style=getComputedStyle(document.documentElement),of=token=>style.getPropertyValue("--"+token).trim();this.ground=of("g\
round"),this.ink=of("ink"),this.quiet=of("quiet"),this.arc=of("arc"),this.line=of("node-line"),this.empty=of("node-empty"),this.bar=of("bar"),this.barLive=of("b\
ar-live"),this.dot=of("dot"),this.accent=of("accent"),this.bad=of("bad"),this.warn=of("warn"),this.past=of("past"),this.pastSoft=of("past-soft"),this.finished=of(
"track"),this.heat=new HeatScale(theme2)}};var severities=new Map([["critical","bad"],["major","bad"],["minor","warn"],["warning","warn"]]),kinds2=new Map(Object.entries({tokenStuck:["stuck place","stuck\
 places"],transitionStarved:["starved transition","starved transitions"],netDeadlocked:["deadlocked net","deadlocked nets"],failureRatio:["failing transition","\
failing transitions"],transitionLoop:["looping transition","looping transitions"],regionStopped:["stopped region","stopped regions"],sourceLost:["silent source",
"silent sources"],sourceConflict:["source name used twice","source names used twice"],sourceRefused:["refused source","refused sources"],natsDisconnected:["lost\
 connection to NATS","lost connections to NATS"]}));function kindName(kind,n=1){return kinds2.get(kind)?.[n===1?0:1]??kind}var grades=Object.freeze([...severities.
keys()]);function mark(severity){let kind=severities.get(severity)??"bad";return[kind==="bad"?"▲":"△",kind]}function signOf({severity,unknown:unknown2}){return unknown2?
["?","warn",`unknown, ${severity}`]:[...mark(severity),severity]}function causes(n){return n.alarms-(n.alarms_unknown??0)-(n.alarms_following??0)}function tally(n){
let{alarms_unknown:doubts,alarms_following:following}=n;return[plural(causes(n),"alarm"),doubts&&`${doubts} unknown`,following&&`${following} following from a l\
ost source`].filter(Boolean).join(", ")}function urgency(net){let not=x=>x?1:0,grade=a=>grades.indexOf(a.severity);return(a,b)=>not(a.silenced_until)-not(b.silenced_until)||
not(a.follows)-not(b.follows)||not(a.unknown)-not(b.unknown)||grade(a)-grade(b)||not(a.acknowledged)-not(b.acknowledged)||not(a.net!==net)-not(b.net!==net)||Date.
parse(a.since)-Date.parse(b.since)||a.index-b.index}var about=a=>a.place??a.transition??a.source??a.region??"";function subject(a){return a.name||about(a)||a.net_name||
a.net||"this sidecar"}var facts={tokenStuck:a=>`${plural(a.affected,"token")} for more than ${span(a.after_seconds)}`,transitionStarved:a=>`${plural(a.affected,
"instance")} for more than ${span(a.after_seconds)} without a firing`,netDeadlocked:a=>`${plural(a.affected,"instance")} deadlocked`,failureRatio:a=>`${count(a.
affected)} of ${count(a.runs)} runs failed in ${span(a.window_seconds)}`,transitionLoop:a=>`${rate(a.rate)} over ${span(a.window_seconds)}, more than ${rate(a.above)}`,
sourceLost:a=>`${plural(a.affected,"net")} without messages`,sourceConflict:a=>`${plural(a.affected,"net")} from two processes with this name`,sourceRefused:a=>`${plural(
a.affected,"net")} whose messages are refused`,regionStopped:()=>"stopped",natsDisconnected:()=>"no connection to NATS"};function words(a){let now=facts[a.alarm]?.(
a)??kindName(a.alarm);return a.unknown?`${now}, when it was last known`:a.outdated?`${now}, at an earlier moment`:now}var ahead=.25,dotPause=30,dear=16,rest=120,patience=2e3,stretch=[.55,2.5],flashing=1400,legible=.28,Stage=class{constructor(model2,canvas2,theme2){this.model=model2,
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
h:n.h*scale}}zoom(factor){this.#look(()=>this.camera.zoom(factor,this.width/2,this.height/2))}fit(){let{scene,where}=this.model,legend=document.getElementById("\
legend"),foot=legend?.offsetHeight?this.height-legend.offsetTop+below:0;scene&&this.#look(()=>this.camera.fit(where.around?boxOf(scene,this.marks):scene.box,this.
width,this.height,foot))}lookAt(x,y,scale=this.camera.scale){this.#look(()=>this.camera.to(x,y,this.width,this.height,scale))}jump(node){let n=this.model.scene?.
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
(this.marks=marks3,this.version++,this.painted.cost=0,this.model.dispatchEvent(new Event("sight")),this.repaint())}#surroundings(){let{around:around2,steps}=this.
model.where;return around2&&`${steps} ${around2}`}#moved(){this.#sight(),this.#surroundings()!==this.around&&(this.around=this.#surroundings(),this.fit());let node=this.
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
scaled=factor!==1,later=painted.cost>dear&&time-this.movedAt<rest&&time-painted.at<patience&&factor>stretch[0]&&factor<stretch[1],outside=Math.abs(shiftX)>this.
width*ahead||Math.abs(shiftY)>this.height*ahead;later&&(scaled||!outside)?(this.stale||scaled)&&setTimeout(()=>this.#ask(),rest):(this.stale||outside||scaled)&&
this.#paintLayer(time),this.#copy(),this.#marks(),this.moving&&this.#dots(time)}#paintLayer(time){let begun=performance.now(),{model:model2,camera,painter}=this;
painter.ctx.setTransform(this.ratio,0,0,this.ratio,0,0);let view=this.view(ahead);model2.scene?(painter.paint(model2.scene,model2.shown,view),model2.comparing&&
paintChanges(painter.ctx,painter.palette,model2,view)):(painter.ctx.fillStyle=painter.palette.ground,painter.ctx.fillRect(0,0,view.width,view.height)),this.stale=
!1,this.painted={x:camera.x,y:camera.y,scale:camera.scale,cost:performance.now()-begun,at:time}}view(more=0){let{camera,width,height}=this;return{scale:camera.scale,
x:camera.x+width*more,y:camera.y+height*more,width:width*(1+2*more),height:height*(1+2*more),now:this.model.now(),alarmed:this.#alarmed(),doubted:this.#alarmed(
!0),marks:this.marks,version:this.version}}#alarmed(doubted){let{scene,overview,where}=this.model,all=(overview?.alarms??[]).filter(a=>a.net===where.net),held=new Set(
all.filter(a=>!a.unknown).map(about)),nodes=all.filter(a=>!doubted||!held.has(about(a))).sort(urgency(where.net)).flatMap(a=>[scene?.find("place",a.place??"")??
-1,scene?.find("transition",a.transition??"")??-1]);return new Set(nodes.filter(n=>n>=0))}#copy(){let{ctx,camera,painted,ratio,width,height}=this;ctx.setTransform(
ratio,0,0,ratio,0,0);let factor=camera.scale/painted.scale,x=camera.x-(painted.x+width*ahead)*factor,y=camera.y-(painted.y+height*ahead)*factor;factor!==1?(ctx.
fillStyle=this.painter.palette.ground,ctx.fillRect(0,0,width,height),ctx.drawImage(this.layer,x,y,width*(1+2*ahead)*factor,height*(1+2*ahead)*factor)):(ctx.setTransform(
1,0,0,1,0,0),ctx.drawImage(this.layer,Math.round(x*ratio),Math.round(y*ratio)),ctx.setTransform(ratio,0,0,ratio,0,0))}#marks(){let{ctx,painter:{palette},model:{
scene}}=this;if(!scene)return;let over=new Painter(ctx,palette);this.chosen(over,this.hovered),this.#flash(over,scene),this.cursor>=0&&this.cursor!==this.model.
selected()&&document.activeElement===this.canvas&&over.ring(scene,this.cursor,palette.ink,2,[4,3])}chosen(over,hovered=-1){let{model:model2,painter:{palette}}=this,
{scene}=model2;if(!scene)return;Object.assign(over,{scale:this.camera.scale,x:this.camera.x,y:this.camera.y,width:this.width,height:this.height});let selected=model2.
selected();for(let node of new Set([selected,hovered]))node>=0&&over.arcs(scene,scene.arcsOf[node].map(a=>scene.arcs[a]).filter(a=>this.seen(a.from)&&this.seen(
a.to)),palette.accent,2);for(let node of model2.traced.map(id=>scene.find("place",id)))node>=0&&over.ring(scene,node,palette.accent,3,[2,4]);selected>=0&&over.ring(
scene,selected,palette.accent,3,[])}#flash(over,scene){let{node,until}=this.flash,left=until-performance.now();if(!(node<0)){if(left<=0||!scene.nodes[node]){this.
flash.node=-1,delete this.canvas.dataset.flash;return}over.ring(scene,node,this.painter.palette.accent,4,[],this.calm.matches?10:6+40*left/flashing),this.calm.matches||
this.#ask()}}#dots(time){let{ctx,camera,flow}=this;flow.step(time);let scene=this.model.scene,r=dotRadius(camera.scale,1);ctx.fillStyle=this.painter.palette.dot,
flow.dots(time,node=>scene.grown(node,camera.scale),arc=>this.seen(arc.from)&&this.seen(arc.to),(wx,wy,worth)=>{let x=wx*camera.scale+camera.x,y=wy*camera.scale+
camera.y;x<-r||y<-r||x>this.width+r||y>this.height+r||(ctx.beginPath(),ctx.arc(x,y,dotRadius(camera.scale,worth),0,2*Math.PI),ctx.fill())})}};function dotRadius(scale,worth){
return Math.max(1.1,Math.min(4,6.5*scale))*(1+.35*Math.log10(worth))}function describe(model2,node){let{scene,shown}=model2,n=scene?.nodes[node];if(!scene||!n)return"";
if(n.kind==="place"){let old=n.final?"finished":`oldest ${age(shown?.oldestAge(node,model2.now()))}`;return`place ${label(n)}: ${plural(shown?.places[node]?.tokens,
"token")}, ${old}`}let row2=shown?.transitions[scene.row(node)]??{};return`transition ${label(n)}: ${rate(row2.rate)}, blocked ${count(row2.blocked)}`}var Dots=class{constructor(model2,shown){this.model=model2,this.shown=shown,this.flow=new Flow,this.canvas=el("canvas",{class:"dots","aria-hidden":"true"}),this.
calm=matchMedia("(prefers-reduced-motion: reduce)"),this.viewer=null,this.asked=this.painted=0,this.colour="";for(let type of["frame","address","link"])model2.addEventListener(
type,()=>this.measure());this.calm.addEventListener("change",()=>this.#ask())}get moving(){let{at,playing,live}=this.model;return!this.calm.matches&&this.shown()&&
this.flow.busy&&(at?playing>0:live.up)}draw(viewer,calls){this.viewer=viewer;let{scene}=this.model;viewer.get("canvas").getContainer().querySelector("svg").after(
this.canvas),this.flow.take(scene?.elements?ways(viewer,scene,calls):[]),this.measure()}measure(){let{model:model2}=this;this.flow.measure(model2.at?model2.playing?
model2.shown:null:model2.live.up?model2.current:null,model2.playing||1),this.colour=getComputedStyle(this.canvas).color,this.#ask()}#ask(){!this.asked&&this.viewer&&
(this.moving||this.painted)&&(this.asked=requestAnimationFrame(time=>this.#next(time)))}#next(time){this.asked=0,this.moving?time-this.painted>=dotPause&&this.#paint(
time):this.#clear(),this.moving&&this.#ask()}#clear(){this.painted=0,this.canvas.getContext("2d")?.clearRect(0,0,this.canvas.width,this.canvas.height)}#paint(time){
let{canvas:canvas2,flow}=this,ctx=canvas2.getContext("2d");if(!ctx)return;this.painted=time,flow.step(time);let ratio=devicePixelRatio,[width,height]=[Math.round(
canvas2.clientWidth*ratio),Math.round(canvas2.clientHeight*ratio)];(canvas2.width!==width||canvas2.height!==height)&&([canvas2.width,canvas2.height]=[width,height]);
let{x,y,scale}=this.viewer.get("canvas").viewbox();ctx.setTransform(1,0,0,1,0,0),ctx.clearRect(0,0,width,height),ctx.setTransform(ratio,0,0,ratio,0,0),ctx.fillStyle=
this.colour,flow.dots(time,()=>0,()=>!0,(wx,wy,worth)=>{ctx.beginPath(),ctx.arc((wx-x)*scale,(wy-y)*scale,dotRadius(scale,worth),0,2*Math.PI),ctx.fill()})}};function ways(viewer,scene,calls){
let elements=scene.elements,canvas2=viewer.get("canvas"),root=canvas2.getRootElement(),flows=new Map;for(let flow of viewer.get("elementRegistry").filter(s=>s.waypoints&&
s.type==="bpmn:SequenceFlow"&&canvas2.findRoot(s)===root))for(let place of elements.at(calls,flow.id)?.places??[])flows.set(place,{flow,parts:halves(flow)});let all=[];
for(let node=scene.placeCount;flows.size&&node<scene.nodes.length;node++){let id=elements.of(node)?.id,arcs=scene.arcsOf[node].map(a=>scene.arcs[a]).filter(a=>a.
kind==="normal"),ins=arcs.filter(a=>a.to===node&&flows.has(a.from)).map(a=>{let{flow,parts}=flows.get(a.from),next=flow.target?.id!==id&&flow.target?.outgoing?.
find(f=>f.target?.id===id);return{...next?measured([...parts[1].points,...next.waypoints.map(p=>[p.x,p.y])]):parts[1],from:a.from,to:a.to}}),outs=arcs.filter(a=>a.
from===node&&flows.has(a.to)).map(a=>({...flows.get(a.to).parts[0],from:a.from,to:a.to}));(ins.length||outs.length)&&all.push({row:node-scene.placeCount,ins,outs})}
return all}var seen=Object.freeze({light:[0,.3],dark:[.12,1]}),fills=Object.freeze(["color:background-color","bioc:fill"]);function tint(definitions){for(let di of(definitions.
diagrams??[]).flatMap(d=>d.plane?.planeElement??[])){if(holder(di))for(let name2 of fills)di.get(name2)&&di.set(name2,`light-dark(${di.get(name2)}, var(--bpmn-f\
ill))`);filled(di)||soften(di,["color:border-color","bioc:stroke"],"var(--bpmn-line)"),di.label&&beside2(di)?soften(di.label,["color:color"],"var(--bpmn-ink)"):
di.label&&!filled(di)&&di.label.set("color:color",void 0)}}function inkOf({di}){let fill2=filled(di).replace(/^light-dark\((.*), var.*/,"$1"),ink=luminance(channels2(
fill2))>.18?"#10141b":"#f5f7fa";return fill2&&(holder(di)?`light-dark(${ink}, var(--ink))`:ink)}function filled(di){return fills.map(name2=>di?.get(name2)).find(
Boolean)??""}function holder(di){return/^bpmn:(Participant|Lane)$/.test(di?.bpmnElement?.$type??"")}function beside2({bpmnElement}){return/(Event|Gateway|Flow|Association)$|^bpmn:Data/.
test(bpmnElement?.$type??"")}function soften(of,names,instead){for(let name2 of names){let colour=of.get(name2);if(!colour)continue;let bright=luminance(channels2(
colour)),[light,dark]=[seen.light,seen.dark].map(([least,most5])=>bright>=least&&bright<=most5?colour:instead);of.set(name2,light===dark?light:`light-dark(${light}\
, ${dark})`)}}function luminance(rgb){let[r,g,b]=rgb.map(v=>v/255<=.04045?v/255/12.92:((v/255+.055)/1.055)**2.4);return .2126*r+.7152*g+.0722*b}function channels2(colour){
let ctx=new OffscreenCanvas(1,1).getContext("2d");return ctx.fillStyle=colour,ctx.fillRect(0,0,1,1),[...ctx.getImageData(0,0,1,1).data].slice(0,3)}var legible2={min:.72,max:1.3},detail3={rates:.44,tokens:.36},near=.8,margin={side:34,top:62,bottom:74},marks2=["chosen","pointed","alarmed","doubted","traced"],
BpmnStage=class{constructor(model2,root,theme2){this.model=model2,this.root=root,this.scale=new HeatScale(theme2.now),this.viewer=null,this.drawn="",this.tried=
null,this.files=[],this.at={file:0,process:null},this.diagram=null,this.fitted=!1,this.calls=[],this.dots=new Dots(model2,()=>this.shown&&!model2.where.table),this.
badges=new Map,this.over=this.cursor="",model2.on("drawing address",()=>this.#turn()),model2.on("frame overview link",()=>this.update()),setInterval(()=>(!model2.
at||model2.comparing)&&this.update(),1e3),theme2.addEventListener("change",()=>{this.scale=new HeatScale(theme2.now),this.update(),this.dots.measure()}),new ResizeObserver(
()=>this.#resize()).observe(root)}get shown(){return this.model.bpmn&&this.viewer!==null}get width(){return this.root.clientWidth}get height(){return this.root.
clientHeight}get moving(){return this.dots.moving}get flow(){return this.dots.flow}get node(){return this.nodes(this.cursor)[0]??-1}get hovered(){return this.nodes(
this.over)[0]??-1}get others(){return this.nodes(this.over).slice(1)}nodes(id){let{scene,shown}=this.model,e=scene?.elements?.at(this.calls,id);return scene?.elements&&
e?scene.elements.nodesOf(e,shown):[]}focus(){this.root.focus()}zoom(factor){let canvas2=this.viewer?.get("canvas");canvas2?.zoom(canvas2.zoom()*factor,"auto")}fit(){
if(this.fitted=this.width>0&&this.viewer!==null,!this.fitted)return;let canvas2=this.viewer.get("canvas");canvas2.resized();let box=canvas2.viewbox().inner,scale=Math.
min(1.2,(this.width-2*margin.side)/Math.max(1,box.width),(this.height-margin.top-margin.bottom)/Math.max(1,box.height));canvas2.viewbox({x:box.x-(this.width/scale-
box.width)/2,width:this.width/scale,height:this.height/scale,y:box.y-margin.top/scale-((this.height-margin.top-margin.bottom)/scale-box.height)/2})}#resize(){this.
viewer?.get("canvas").resized(),this.fitted?this.cursor&&this.model.selected()>=0&&this.#reveal(this.cursor):this.fit()}where(){let shape=this.viewer.get("eleme\
ntRegistry").get(this.over),box=this.viewer.get("canvas").viewbox(),{x,y,width,height}=shape.waypoints?{...middle(shape),width:0,height:0}:shape;return{x:(x+width/
2-box.x)*box.scale,y:(y+height/2-box.y)*box.scale,w:width*box.scale,h:height*box.scale}}point(node){let e=this.model.scene?.elements?.of(node);!e||!this.viewer||
(same(e.calls,this.calls)?this.#reveal(e.id):this.enter(e.calls??[]).then(()=>this.#reveal(e.id)))}step(dx,dy){let registry=this.viewer?.get("elementRegistry");
if(!registry)return"";let root=this.viewer.get("canvas").getRootElement(),all=registry.filter(s=>this.badges.has(s.id)&&this.viewer.get("canvas").findRoot(s)===
root),from=registry.get(this.cursor),next=from?beside(from,all,dx,dy):this.#hottest(all);return next&&this.#reveal(next.id),this.describe(this.cursor)}open(){this.
cursor&&this.#select(this.cursor)}describe(id){let{scene,shown}=this.model,e=scene?.elements?.at(this.calls,id),shape=this.viewer?.get("elementRegistry").get(id);
if(!e||!shape||!scene?.elements)return"";let s=scene.elements.state(e,shown,this.model.now()),kind=shape.type.replace("bpmn:","").replace(/(?<=[a-z])(?=[A-Z])/g,
" ").toLowerCase(),old=s.final?"finished":`oldest ${age(s.tokens===0?0:s.age)}`;return`${kind} ${short(shape.businessObject.name||id,80)}: ${count(s.tokens)} to\
kens, ${old}, ${rate(s.rate)}${s.blocked?", blocked":""}`}async enter(calls){this.calls=calls,this.over=this.cursor="";let own=this.model.scene?.model?.file??0;
this.at=calls.reduce((at,call)=>called(this.files,at.file,call)??at,{file:own,process:{id:this.model.where.net}});let definitions=this.files[this.at.file],diagram=diagramOf(
definitions,this.at.process.id,this.diagram);diagram!==this.diagram&&(this.diagram=diagram,await(definitions===this.viewer.getDefinitions()?this.viewer.open(diagram):
this.viewer.importDefinitions(definitions,diagram))),this.#mount(),this.fit()}#turn(){let{model:model2}=this,digest=model2.scene?.model?.digest??"";model2.bpmn&&
(digest!==this.drawn||!this.viewer&&this.tried!==model2.scene)?this.#draw(digest):this.scene!==model2.scene&&this.viewer&&model2.scene&&this.#mount();let node=model2.
selected(),e=model2.scene?.elements?.of(node);model2.bpmn&&e&&this.viewer&&(e.id!==this.cursor||!same(e.calls,this.calls))&&this.point(node),model2.bpmn&&node>=
0&&!e&&model2.address.go({view:"net"},!0),this.update()}async#draw(digest){this.viewer?.destroy(),this.viewer=null,this.badges.clear(),this.drawn=digest,this.calls=
[],this.root.dataset.drawn="",this.tried=this.model.scene;let{net}=this.model.where,{files=1,file:own=0}=this.model.scene?.model??{};try{let asked=Array.from({length:files},
(_,i)=>text("model",i===own?{net}:{net,file:String(i)})),[BpmnJS,...texts]=await Promise.all([library(),...asked]);if(digest!==this.drawn||net!==this.model.where.
net)return;let colour={defaultFillColor:"var(--bpmn-fill)",defaultStrokeColor:"var(--bpmn-line)",defaultLabelColor:"var(--bpmn-ink)"},viewer=new BpmnJS({container:this.
root,bpmnRenderer:colour}),read2=await Promise.all(texts.map(async xml=>(await viewer.get("moddle").fromXML(xml)).rootElement));if(read2.forEach(tint),await viewer.
importDefinitions(read2[own]),digest!==this.drawn)return viewer.destroy();this.viewer=viewer,this.files=read2,this.diagram=this.files[own].diagrams[0],this.#listen(
viewer),await this.enter([]),this.#turn()}catch(error){this.viewer=null,this.model.noBpmn(error instanceof Error?error.message:String(error))}}#listen(viewer){let bus=viewer.
get("eventBus"),svg=viewer.get("canvas").getContainer().querySelector("svg");svg.setAttribute("tabindex","-1"),svg.setAttribute("aria-hidden","true"),bus.on("el\
ement.click",event=>this.#select(event.element.labelTarget?.id??event.element.id)),bus.on("element.hover",event=>this.#hover(event.element.labelTarget?.id??event.
element.id)),bus.on("element.out",()=>this.#hover("")),bus.on("canvas.viewbox.changed",()=>this.#looked()),bus.on("root.set",()=>{this.update(),this.badges.size&&
this.dots.draw(viewer,this.calls)})}#looked(){let scale=this.viewer?.get("canvas").zoom()??1;this.root.classList.toggle("far",scale<detail3.rates),this.root.classList.
toggle("farther",scale<detail3.tokens),this.model.dispatchEvent(new Event("hover"))}#hover(id){let over=this.badges.has(id)?id:"";over!==this.over&&(this.over=over,
this.model.dispatchEvent(new Event("hover")))}#select(id){let node=this.nodes(id)[0]??-1,found=this.model.scene?.nodes[node];this.cursor=found?id:"",found?this.
model.select(found.kind,found.id):this.model.select("",""),this.update()}#reveal(id){let canvas2=this.viewer.get("canvas"),shape=this.viewer.get("elementRegistr\
y").get(id);if(this.cursor=id,!shape)return;let root=canvas2.findRoot(shape);root&&root!==canvas2.getRootElement()&&canvas2.setRootElement(root),canvas2.zoom()<
detail3.tokens&&canvas2.zoom(near,"auto"),canvas2.scrollToElement(shape,Math.min(90,this.width/5,this.height/5)),this.update()}#hottest(shapes){let{model:model2}=this,
e=model2.scene?.elements?.of(Math.max(0,model2.selected()>=0?model2.selected():model2.hottest()));return shapes.find(s=>s.id===e?.id)??shapes[0]}#mount(){this.scene=
this.model.scene;let overlays=this.viewer.get("overlays");overlays.remove({type:"pn"}),this.badges.clear();let registry=this.viewer.get("elementRegistry");for(let shape of registry.
getAll()){let ink=shape.labelTarget||shape.waypoints?"":inkOf(shape);if(ink){let gfx=registry.getGraphics(shape);gfx.classList.add("coloured"),paint(gfx,"",ink)}
if(shape.labelTarget||!this.scene?.elements?.at(this.calls,shape.id))continue;let badge=new Badge(!!shape.waypoints);this.badges.set(shape.id,badge);let add=(html,position)=>overlays.
add(shape,"pn",{html,position,scale:legible2});if(shape.waypoints){let at=middle(shape),corner={left:Math.min(...shape.waypoints.map(p=>p.x)),top:Math.min(...shape.
waypoints.map(p=>p.y))};add(el("div",{class:"on-flow"},badge.held,badge.rate),{left:at.x-corner.left,top:clear(at,shape.label)-corner.top})}else{let large=shape.
width>60;add(el("div",{class:"on-shape"},badge.held),{top:-11,right:large?18:10}),add(el("div",{class:large?"on-task":"beside-small"},badge.rate),large?{bottom:15,
left:crowded(shape)?shape.width-42:5}:{top:shape.host?34:2,left:10})}shape.type==="bpmn:CallActivity"&&this.#door(shape,add)}this.#way(),this.dots.draw(this.viewer,
this.calls),this.root.dataset.drawn=this.drawn,this.update()}#door(shape,add){let{model:model2}=this,id=reached(this.files[this.at.file],shape.id)??"",to=called(
this.files,this.at.file,shape.id),here=model2.scene?.model?.elements.some(e=>same(e.calls,[...this.calls,shape.id]))&&to&&diagramOf(this.files[to.file],id,null),
other=model2.latest?.nets.some(n=>n.id===id&&n.id!==model2.where.net);if(!here&&!other)return;let go=()=>here?this.enter([...this.calls,shape.id]):model2.openNet(
id);add(el("button",{type:"button",class:"bjs-drilldown door","aria-label":`Open the called process ${label({id})}`,onclick:go},"↓"),{bottom:20,right:22})}#way(){
if(this.root.querySelector(".way-out")?.remove(),!this.calls.length)return;let{name:name2,id}=this.at.process;this.root.append(el("button",{type:"button",class:"\
way-out",onclick:()=>this.enter(this.calls.slice(0,-1))},`← out of ${short(name2||id,60)}`))}repaint(){this.update()}update(){let{model:model2,viewer}=this,{scene,
shown}=model2;if(!this.shown||!scene?.elements||this.scene!==scene)return;let now=model2.now(),registry=viewer.get("elementRegistry"),marked=this.#marked();for(let[
id,badge]of this.badges){let e=scene.elements.at(this.calls,id),gfx=registry.getGraphics(id);if(!e||!gfx)continue;let state=scene.elements.state(e,shown,now);if(badge.
show(state,this.scale,this.#change(e,state))){let hot=state.tokens&&!badge.flow?state:null;gfx.classList.contains("coloured")||paint(gfx,hot?this.scale.fill(hot.
heat):"",hot?this.scale.ink(hot.heat):""),gfx.classList.toggle("hot",hot!==null)}for(let mark2 of marks2)gfx.classList.toggle(mark2,marked[mark2].has(id))}}#change(e,then){
let{scene,shown,current,comparing,clock:clock2,at}=this.model;if(!comparing||!scene?.elements||!shown||current?.drawing!==shown.drawing)return"";let now=scene.elements.
state(e,current,clock2.now()),passed=(clock2.now()-at)/1e3,same3=now.tokens&&then.tokens&&Math.abs((now.age??0)-(then.age??0)-passed)<.1;return[brief({by:less(now.
tokens,then.tokens),aged:0}),same3&&now.age?`same, +${shortAge(passed)}`:""].filter(Boolean).join(" · ")}#marked(){let{model:model2}=this,{scene,where,overview}=model2,
ids=nodes2=>new Set(nodes2.map(n=>scene?.elements?.of(n)).filter(e=>e&&same(e.calls,this.calls)).map(e=>e.id)),alarms2=(overview?.alarms??[]).filter(a=>a.net===
where.net),nodes=a=>[scene?.find("place",a.place??"")??-1,scene?.find("transition",a.transition??"")??-1];return{chosen:ids([model2.selected()]),pointed:new Set(
document.activeElement===this.root?[this.cursor]:[]),alarmed:ids(alarms2.filter(a=>!a.unknown).flatMap(nodes)),doubted:ids(alarms2.filter(a=>a.unknown).flatMap(
nodes)),traced:ids(model2.traced.map(id=>scene?.find("place",id)??-1))}}};function paint(gfx,fill2,ink){for(let[token,value]of[["fill",fill2],["line",ink],["ink",
ink]])value?gfx.style.setProperty("--bpmn-"+token,value):gfx.style.removeProperty("--bpmn-"+token)}function same(a,b){return(a??[]).join(`
`)===b.join(`
`)}function clear({x,y},name2){let half={width:26,height:9};return name2&&x+half.width>name2.x&&x-half.width<name2.x+name2.width&&y+half.height>name2.y&&y-half.
height<name2.y+name2.height?name2.y+name2.height+half.height:y}function crowded(shape){return(shape.attachers??[]).some(a=>a.x<shape.x+50&&a.y+a.height>shape.y+
shape.height-15)}async function library(){let file=name2=>new URL(`vendor/bpmn-js/${name2}`,import.meta.url).href;for(let sheet of["diagram-js","bpmn-js"]){let href=file(
`${sheet}.css`);document.querySelector(`link[href="${href}"]`)||document.head.prepend(el("link",{rel:"stylesheet",href}))}return await import(file("bpmn-navigat\
ed-viewer.js")),globalThis.BpmnJS}var fields=new Map(Object.entries({severity:{title:"Severity",of:a=>a.severity,say:v=>v},of:{title:"Net",of:a=>a.net??"",say:(v,alarms2)=>alarms2.find(a=>a.net===
v)?.net_name||v},alarm:{title:"Kind",of:a=>a.alarm,say:v=>kindName(v)},acknowledged:{title:"Acknowledged",of:a=>a.acknowledged?"yes":"no",say:v=>v},silenced:{title:"\
Silenced",of:a=>a.silenced_until?"yes":"no",say:v=>v}}));function matches(a,chosen2){return Object.entries(chosen2).every(([key3,value])=>fields.get(key3)?.of(a)===
value)}function lookThere(model2,stage2){model2.on("drawing",()=>{let{scene,where,address:address2}=model2;if(!scene||!where.look)return;let[scale,kind,...id]=where.look.
split(" "),n=scene.nodes[scene.find(kind,id.join(" "))];n&&Number(scale)>0&&stage2.lookAt(n.x,n.y,Number(scale)),address2.go({look:""},!0)})}var Clock=class{constructor(){this.differences=[]}observe(at){this.differences.push(at-Date.now()),this.differences.length>60&&this.differences.shift()}reset(){
this.differences=[]}get ahead(){return this.differences.length<3?void 0:Math.max(...this.differences)}now(){return Date.now()+(this.differences.length?Math.max(
...this.differences):0)}};var Frame=class{constructor(message){this.net=message.net,this.drawing=message.drawing,this.generation=message.generation,this.at=Date.parse(message.at),this.resting=
message.resting??[],this.places=message.places.map(dated),this.transitions=message.transitions.map(dated)}apply(diff){this.generation=diff.generation,this.at=Date.
parse(diff.at);for(let row2 of diff.places)this.places[row2.index]=dated(row2);for(let row2 of diff.transitions)this.transitions[row2.index]=dated(row2)}oldestAge(i,now){
let row2=this.places[i];return age2(row2,row2?.tokens,now)}enabledAge(i,now){let row2=this.transitions[i];return age2(row2,row2?.enabled,now)}byAge(nodes){let order=[];
for(let i=0;i<this.places.length;i++)this.places[i].since&&!nodes[i]?.calm&&order.push(i);return order.sort((a,b)=>this.places[a].since-this.places[b].since||a-
b)}};function dated(row2){let since=row2.oldest_since??row2.enabled_since;return row2.since=since?Date.parse(since):0,row2}function age2(row2,n,now){return row2?.
since?Math.max(0,(now-row2.since)/1e3):n===0?0:null}var firstWait=500,longestWait=5e3,silence=2e4,opening=4e3,Live=class extends EventTarget{#source=null;#net="";#wait=firstWait;#retry=0;#watch=0;#wasUp=!1;up=!1;refusal=null;received=0;open(net){
this.#net=net,this.#wait=firstWait,this.#connect()}rest(){clearTimeout(this.#retry),clearTimeout(this.#watch),this.#source?.close()}get net(){return this.#net}#connect(){
clearTimeout(this.#retry),this.#source?.close();let source=new EventSource(address("live",this.#net?{net:this.#net}:void 0));this.#source=source,source.addEventListener(
"error",()=>this.#lost(source));for(let type of["overview","frame","diff"])source.addEventListener(type,event=>this.#take(type,event.data));clearTimeout(this.#watch),
this.#watch=window.setTimeout(()=>this.#stalled(source),opening)}async#stalled(source){let refusal=await this.#reason(!1);if(source!==this.#source||source.readyState!==
EventSource.CONNECTING)return;let before=this.refusal;this.refusal=refusal?.status===401?refusal:null,this.refusal?this.#watch=window.setTimeout(()=>this.#stalled(
source),opening):before?this.#connect():this.#listen()}#take(type,text3){this.received=Date.now(),this.#listen(),this.refusal=null,this.up||(this.up=!0,this.#wait=
firstWait,this.dispatchEvent(new CustomEvent("up",{detail:this.#wasUp})),this.#wasUp=!0),this.dispatchEvent(new CustomEvent(type,{detail:JSON.parse(text3)}))}async#lost(source,silent){
if(source!==this.#source)return;let refused=source.readyState===EventSource.CLOSED;source.close(),clearTimeout(this.#watch),clearTimeout(this.#retry),this.up=!1,
this.dispatchEvent(new CustomEvent("down")),refused?this.refusal=await this.#reason(!0):silent||(this.refusal=null),source===this.#source&&(this.#retry=window.setTimeout(
()=>this.#connect(),this.refusal?.after??this.#wait),this.#wait=Math.min(longestWait,this.#wait*2))}async#reason(answered){let ended=new AbortController,ask2=credentials=>fetch(
address("live"),{credentials,signal:AbortSignal.any([ended.signal,AbortSignal.timeout(silence/4)]),cache:"no-store"});try{let answer2=await ask2("omit");if(answer2.
status===401&&answered&&(answer2=await ask2("same-origin").catch(()=>answer2)),answer2.ok)return null;let text3=await answer2.json().then(doc=>String(doc.error),
()=>answer2.statusText);return{status:answer2.status,text:text3,after:Math.max(this.#wait,1e3*(Number(answer2.headers.get("Retry-After"))||0))}}catch{return null}finally{
ended.abort()}}#listen(){clearTimeout(this.#watch),this.#watch=window.setTimeout(()=>this.#probe(),silence)}async#probe(){let source=this.#source;try{await ask(
"overview",void 0,AbortSignal.timeout(silence/4)),this.received=Date.now(),this.#listen()}catch{source&&this.#lost(source,!0)}}};var most2=12,busy=503,pause=2e3,tries=3,same2=2,late={steps:3,least:12e4,archive:3e5},Moments=class{constructor(){this.known=new Map}async ask(net,at,kept,signal){
let key3=`${at} ${net}`,known=this.known.get(key3);if(known)try{return await known}catch{signal.throwIfAborted()}let asked=moment(net,at,kept,signal);this.known.
set(key3,asked),this.known.size>most2&&this.known.delete(this.known.keys().next().value);try{let found=await asked;return found.failed&&this.known.delete(key3),
found}catch(error){throw this.known.delete(key3),error}}};function unasked(net,at,of){let overview=of?.asked===at?of.overview:null;return{net,asked:at,at:overview&&
of?of.at:at,overview,frame:null,lacks:"",before:0,archive:!1,failed:!1,asking:!0}}async function moment(net,asked,kept,signal){let time=new Date(asked).toISOString(),
all=at=>answer("overview",{at},asked,signal),one=at=>answer("history",{net,at},asked,signal),[o,f]=await Promise.all([all(time),net?one(time):{doc:null,at:0,why:""}]);
for(let k=0;k<tries&&o.doc&&f.doc&&Math.abs(o.at-f.at)>same2;k++)o.at>f.at?o=await all(f.doc.at):f=await one(o.doc.at);return joined(net,asked,kept,o,f)}async function answer(what,query2,asked,signal){
try{let doc=await patient(what,query2,signal),at=Date.parse(doc.at);return at<=asked+same2?{doc,at,why:""}:{doc:null,at:0,why:""}}catch(error){return signal.throwIfAborted(),
{doc:null,at:0,why:error instanceof ApiError&&error.status===404?"":error instanceof Error?error.message:String(error)}}}async function patient(what,query2,signal){
for(let k=1;;k++)try{return await ask(what,query2,signal)}catch(error){if(!(error instanceof ApiError)||error.status!==busy||k===tries)throw error;await new Promise(
done=>setTimeout(done,pause)),signal.throwIfAborted()}}function joined(net,asked,kept,o,f){let of=when(asked),m={net,asked,at:asked,overview:null,frame:null,lacks:"",
before:0,archive:!!(o.doc?.archive??f.doc?.archive),failed:!!(o.why||f.why),asking:!1},newest=Math.max(o.at,f.at);if(!newest){let why=o.why||f.why;return{...m,lacks:why?
`The data of ${of} cannot be loaded: ${why}.`:`No data is kept for ${of}. ${keeps(kept)}`.trim()}}return asked-newest>patience2(kept,m.archive)?{...m,before:newest,
lacks:`No data is kept for ${of}: nothing was kept after ${when(newest)} until then.`}:(m.at=o.at||f.at,m.overview=o.doc&&{nets:[],sources:[],alarms:[],silences:[],
...o.doc},f.doc&&Math.abs(f.at-m.at)<=same2&&(m.frame=new Frame(f.doc)),o.doc?net&&!m.frame&&(m.lacks=noFrame(net,m,f)):m.lacks=`Nets, alarms and sources are no\
t kept for ${of}${o.why&&`: ${o.why}`}.`,m.before=f.doc&&!m.frame?f.at:0,m)}function noFrame(net,m,f){let of=when(m.at);return f.why?`The numbers of this net at\
 ${of} cannot be loaded: ${f.why}.`:m.overview?.nets.some(n=>n.id===net)?`The numbers of this net are not kept for ${of}${f.doc?`; the last before are of ${when(
f.at)}`:""}.`:`This net was not there at ${of}.`}function patience2(kept,archive){let step=(archive?kept?.archive?.step:kept?.step)??0;return Math.max(late.steps*
step*1e3,archive?late.archive:late.least)}function keeps(kept){return kept?`The sidecar keeps ${when(Date.parse(kept.from))} to now${kept.archive?`, its archive\
 ${when(Date.parse(kept.archive.from))} and later`:""}.`:"The sidecar keeps no past."}var Elements=class{constructor(model2,nodes,placeCount){this.nodes=nodes,this.placeCount=placeCount,this.index=new Map,this.owners=new Map;for(let e of model2.elements){
this.index.set(key(e.calls??[],e.id),e);for(let node of[...e.places,...this.#transitions(e)])this.owners.set(node,e)}for(let e of model2.elements)for(let place of e.
tokens)this.owners.set(place,e)}at(calls,id){return this.index.get(key(calls,id))}of(node){return this.owners.get(node)}#transitions(e){return e.transitions.map(
row2=>row2+this.placeCount)}nodesOf(e,frame){let since=place=>(this.nodes[place].calm?0:frame?.places[place]?.since)||1/0,held=e.tokens.filter(p=>frame?.places[p]?.
tokens!==0).sort((a,b)=>since(a)-since(b)),fires=e.fires.map(row2=>row2+this.placeCount);return[...new Set([...held,...fires,...e.tokens,...e.places,...this.#transitions(
e)])]}state(e,frame,now){let held=e.tokens.filter(p=>frame?.places[p]?.tokens),oldest=places=>{let ages=places.map(p=>frame?.oldestAge(p,now)).filter(a=>typeof a==
"number");return ages.length?Math.max(...ages):null},unfinished=held.filter(p=>!this.nodes[p].final),rows=e.transitions.map(row2=>frame?.transitions[row2]??{});
return{tokens:e.tokens.length?sum(e.tokens.map(p=>frame?.places[p]?.tokens)):0,age:oldest(unfinished),heat:heat(oldest(unfinished.filter(p=>!this.nodes[p].calm))),
final:held.length>0&&!unfinished.length,rate:e.fires.length?sum(e.fires.map(row2=>frame?.transitions[row2]?.rate)):sum(e.places.map(p=>frame?.places[p]?.arrival_rate)),
blocked:rows.some(t=>t.blocked)&&!rows.some(t=>t.running)}}};function sum(numbers){let known=numbers.filter(n=>typeof n=="number");return known.length?known.reduce(
(a,b)=>a+b,0):null}function key(calls,id){return[...calls,id].join(`
`)}var Grid=class{constructor(nodes){this.cells=new Map,this.reach=0,nodes.forEach((n,i)=>{this.reach=Math.max(this.reach,n.w/2,n.h/2);let key3=keyOf(Math.floor(n.
x/200),Math.floor(n.y/200)),there=this.cells.get(key3);there?there.push(i):this.cells.set(key3,[i])})}around(x,y,distance,visit){let far=distance+this.reach;for(let i=Math.
floor((x-far)/200);i<=Math.floor((x+far)/200);i++)for(let k=Math.floor((y-far)/200);k<=Math.floor((y+far)/200);k++)this.cells.get(keyOf(i,k))?.forEach(visit)}};
function keyOf(i,k){return i*1e6+k}var legible3=12,enough=400,Scene=class{constructor(drawing){this.net=drawing.net,this.name=drawing.name??"",this.doc=drawing.doc??"",this.hash=drawing.hash,this.
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
(vx*dx+vy*dy)/distance:-1,cost=distance/Math.max(1e-9,cosine*cosine);cosine>=least&&cost<bestCost&&([best,bestCost]=[i,cost])}return best}radius(place,scale){let n=this.
nodes[place],own=Math.min(n.w,n.h)/2*scale;return own>=legible3?own:Math.max(2,own,Math.min(legible3,Math.min(this.room[place],this.usualRoom)*scale*.52))}grown(node,scale){
return node<this.placeCount?this.radius(node,scale)/scale-Math.min(this.nodes[node].w,this.nodes[node].h)/2:0}#room(place){let p=this.nodes[place],room=enough;return this.
grid.around(p.x,p.y,enough,i=>{let n=this.nodes[i];i!==place&&(room=Math.min(room,Math.hypot(Math.max(0,Math.abs(n.x-p.x)-n.w/2),Math.max(0,Math.abs(n.y-p.y)-n.
h/2))))}),room}#bounds(){let box={left:1/0,top:1/0,right:-1/0,bottom:-1/0};for(let n of this.nodes)box.left=Math.min(box.left,n.x-n.w/2),box.right=Math.max(box.
right,n.x+n.w/2),box.top=Math.min(box.top,n.y-n.h/2),box.bottom=Math.max(box.bottom,n.y+n.h/2+(n.kind==="place"?30:0));for(let{box:way}of this.arcs)box.left=Math.
min(box.left,way.left),box.right=Math.max(box.right,way.right),box.top=Math.min(box.top,way.top),box.bottom=Math.max(box.bottom,way.bottom);return this.nodes.length?
box:{left:0,top:0,right:1,bottom:1}}};function measured2(arc,nodes){let from=nodes[arc.from],to=nodes[arc.to],points=arc.points?.length>=2?arc.points.map(([x,y])=>[
x,y]):[[from.x,from.y],[to.x,to.y]];points[0]=border(from,points[0],points[1]);let last=points.length-1;points[last]=border(to,points[last],points[last-1]);let lengths=[
0];for(let i=1;i<=last;i++)lengths.push(lengths[i-1]+Math.hypot(points[i][0]-points[i-1][0],points[i][1]-points[i-1][1]));let xs=points.map(p=>p[0]),ys=points.map(
p=>p[1]);return{...arc,points,lengths,length:lengths[last],box:{left:Math.min(...xs),right:Math.max(...xs),top:Math.min(...ys),bottom:Math.max(...ys)}}}function border(node,end,other){
let vx=other[0]-node.x,vy=other[1]-node.y;if(Math.hypot(end[0]-node.x,end[1]-node.y)>.3*Math.min(node.w,node.h))return end;if(node.kind==="place"){let distance=Math.
hypot(vx,vy),r=Math.min(node.w,node.h)/2;return distance>r?[node.x+vx/distance*r,node.y+vy/distance*r]:end}let share=Math.min(node.w/2/Math.abs(vx||1e-9),node.h/
2/Math.abs(vy||1e-9));return share<1?[node.x+vx*share,node.y+vy*share]:end}function work(node){return!node.role}var retry=2e3,mostDrawn=2e3,Model=class extends EventTarget{constructor(){super(),this.address=new Address,this.live=new Live,this.clock=new Clock,this.latest=null,
this.latestAt=0,this.moments=new Moments,this.moment=null,this.asked=null,this.playing=0,this.scene=null,this.current=null,this.traced=[],this.trouble="",this.outdated=
!1,this.unfound="",this.bpmnTrouble="",this.whole=null,this.apart="",this.upright=matchMedia("(orientation: portrait)"),this.drawingAsked=""}start(){this.address.
addEventListener("change",event=>this.#moved(event.detail)),this.live.addEventListener("overview",event=>this.#overview(event.detail)),this.live.addEventListener(
"frame",event=>this.#frame(event.detail)),this.live.addEventListener("diff",event=>this.#diff(event.detail)),this.live.addEventListener("up",()=>{this.clock.reset(),
this.#again(),this.#tell("link")}),this.live.addEventListener("down",()=>this.#tell("link")),this.upright.addEventListener("change",()=>this.whole&&this.#draw(this.
whole.hash,!0)),addEventListener("pagehide",()=>this.live.rest()),addEventListener("pageshow",event=>event.persisted&&this.live.open(this.live.net)),this.live.open(
this.where.net),this.#travel()}get where(){return this.address.where}get at(){return this.moment?.at??0}get overview(){return this.moment?this.moment.overview:this.
latest}get shown(){return this.moment?this.#drawn(this.moment.frame):this.current}get lacks(){let{moment:moment2}=this;return!moment2?.frame||moment2.lacks||this.#drawn(
moment2.frame)||!this.scene?moment2?.lacks??"":`This net had another definition at ${when(moment2.at)}, so its numbers cannot be shown on this drawing.`}get comparing(){
return this.where.compare&&this.moment!==null&&!this.moment.asking}get asking(){return this.asked!==null}get actions(){return!this.moment&&!!this.latest?.actions}now(){
return this.at||this.clock.now()}passed(){return this.moment?0:(Date.now()-this.latestAt)/1e3}get net(){return this.overview?.nets.find(n=>n.id===this.where.net)}on(types,listener){
for(let type of types.split(" "))this.addEventListener(type,listener)}select(kind,id){this.address.go({kind,id:kind?id:""})}openNet(net){this.address.go({net,kind:"",
id:"",around:"",look:"",...this.where.view==="bpmn"?{view:""}:{}})}lookAround(node,steps){let n=this.scene?.nodes[node];n&&this.address.go({around:`${n.kind} ${n.
id}`,steps,...this.bpmn?{view:"net"}:{}})}travel(at,sliding){this.address.go({at},sliding)}trace(places){places.join(`
`)!==this.traced.join(`
`)&&(this.traced=places,this.#tell("hover"),this.#tell("frame"))}selected(){let{kind,id}=this.where;return this.scene&&(kind==="place"||kind==="transition")?this.
scene.find(kind,id):-1}hottest(){return this.shown&&this.scene?this.shown.byAge(this.scene.nodes)[0]??-1:-1}get bpmn(){let{view}=this.where;return!!this.scene?.
model?.digest&&!this.bpmnTrouble&&(view==="bpmn"||!view&&!this.large)}get large(){return(this.scene?.model?.elements.length??0)>mostDrawn}noBpmn(why){this.bpmnTrouble=
why,this.#tell("address"),this.#tell("frame")}#tell(type){type==="frame"&&this.scene?.rest(this.shown?.resting??this.current?.resting??[]),this.dispatchEvent(new Event(
type))}#moved(before){before.net!==this.where.net&&(this.scene=this.whole=this.current=null,this.drawingAsked=this.trouble=this.bpmnTrouble=this.apart="",this.#follow(),
this.#tell("drawing")),(before.at!==this.where.at||before.net!==this.where.net)&&this.#travel(),this.#arrange(),this.#tell("address"),this.#tell("frame")}async#arrange(){
let{net,around:around2,steps}=this.where,apart=around2&&`${steps} ${around2}`,whole=this.whole;if(!whole||apart===this.apart)return;this.apart=apart;let drawing=whole;
if(around2){let[kind,...id]=around2.split(" ");if(!this.scene||this.scene.find(kind,id.join(" "))<0)return;try{drawing=arranged(whole,await ask("drawing",{net,[kind]:id.
join(" "),steps:String(steps),...this.#shape()}))}catch{return}}apart!==this.apart||whole!==this.whole||(this.scene=new Scene(drawing),this.#tell("drawing"))}#follow(){
let net=this.latest?.nets.find(n=>n.id===this.where.net)?.id??"";net!==this.live.net&&this.live.open(net)}#overview(overview){this.latest=overview,this.latestAt=
Date.now(),overview.generation&&this.clock.observe(Date.parse(overview.at)),this.moment?.asking&&!this.asked&&this.#travel(),!this.where.net&&overview.nets.length&&
this.address.go({net:neediest(overview).id},!0),this.#follow(),this.#tell("overview")}#frame(message){message.net===this.where.net&&(this.current=new Frame(message),
this.clock.observe(this.current.at),this.#draw(message.drawing),(!this.moment||this.comparing)&&this.#tell("frame"))}#diff(message){this.current&&(this.#draw(this.
current.drawing),this.current.apply(message),this.clock.observe(this.current.at),(!this.moment||this.comparing)&&this.#tell("frame"))}async#draw(hash2,again){if(!again&&
(this.scene?.hash===hash2||this.drawingAsked===hash2))return;this.drawingAsked=hash2;let net=this.where.net;try{let drawing=await ask("drawing",{net,...this.#shape()});
if(net!==this.where.net)return;this.whole=drawing,this.apart="",this.scene=new Scene(drawing),this.trouble=this.bpmnTrouble="",this.#arrange(),this.#tell("drawi\
ng"),this.#tell("address"),this.#tell("frame")}catch(error){this.#fail(`Cannot load the drawing of this net: ${text2(error)}.`)}finally{setTimeout(()=>this.drawingAsked===
hash2&&(this.drawingAsked=""),retry)}}#shape(){return this.upright.matches?{upright:""}:{}}#drawn(frame){return frame&&(!this.scene||frame.drawing===this.scene.
hash)?frame:null}async#travel(){let{net,at}=this.where;if(this.asked?.abort(),this.asked=null,at||(this.moment=null),!at||this.moment?.asked===at&&this.moment.net===
net&&!this.moment.asking||((!this.latest||this.moment?.asking||this.moment&&this.moment.net!==net)&&(this.moment=unasked(net,at,this.moment)),!this.latest))return;
let asked=this.asked=new AbortController;try{let moment2=await this.moments.ask(net,at,this.latest?.history,asked.signal);asked===this.asked&&this.show(moment2)}catch(error){
if(!asked.signal.aborted)throw error}}#again(){this.moment?.failed&&(this.moment={...this.moment,asking:!0},this.#travel())}show(moment2){this.asked?.abort(),this.
asked=null,this.moment=moment2,this.#tell("overview"),this.#tell("frame")}#fail(trouble){this.trouble=trouble,this.#tell("link")}};function text2(error){return error instanceof
Error?error.message:String(error)}function neediest({nets,alarms:alarms2}){let urgent=[...alarms2].sort(urgency("")).find(a=>nets.some(n=>n.id===a.net));return nets.
find(n=>n.id===urgent?.net)??[...nets].sort((a,b)=>(b.oldest_age_seconds??0)-(a.oldest_age_seconds??0))[0]}var key2="pnagent theme",Theme=class extends EventTarget{constructor(chosen2=remembered()){super(),this.system=matchMedia("(prefers-color-scheme: dark)"),this.chosen=
chosen2,this.system.addEventListener("change",()=>this.#show()),this.#show()}get now(){return this.chosen||(this.system.matches?"dark":"light")}toggle(){this.chosen=
this.now==="dark"?"light":"dark";try{localStorage.setItem(key2,this.chosen)}catch{}this.#show()}#show(){document.documentElement.dataset.theme=this.now,this.dispatchEvent(
new Event("change"))}};function remembered(){try{let kept=localStorage.getItem(key2);return kept==="dark"||kept==="light"?kept:""}catch{return""}}var pause2=150,fresh=5e3,most3=3,Tip=class{constructor(model2,views2){this.model=model2,this.views=views2,this.root=byId("tip"),this.node=-1,this.waiting=0,this.
known=new Map,model2.on("hover frame drawing",()=>this.show()),model2.on("drawing",()=>this.known.clear())}show(){let{model:model2,root}=this,stage2=this.views.
now,node=model2.where.table?-1:stage2.hovered,all=[node,...stage2.others.slice(0,most3)];if(node!==this.node){clearTimeout(this.waiting);let why=all.filter(i=>model2.
scene?.nodes[i]?.kind==="transition");why.length&&(this.waiting=window.setTimeout(()=>why.forEach(i=>this.#ask(i)),pause2))}if(this.node=node,root.hidden=node<0||
!model2.scene?.nodes[node],root.hidden)return;root.replaceChildren(...all.flatMap(i=>this.#node(i))),stage2.others.length>most3&&root.append(el("div",{class:"qu\
iet"},`and ${stage2.others.length-most3} more of this element`));let at=stage2.where(node),left=Math.max(8,Math.min(stage2.width-root.offsetWidth-8,at.x-root.offsetWidth/
2)),below2=at.y+at.h/2+14,top=below2+root.offsetHeight>stage2.height?at.y-at.h/2-14-root.offsetHeight:below2;root.style.transform=`translate(${Math.round(left)}\
px, ${Math.round(Math.max(8,top))}px)`}#node(node){let n=this.model.scene?.nodes[node];return n?[el("strong",null,name(label(n))),...n.kind==="place"?this.#place(
node):this.#transition(n,node)]:[]}#place(node){let row2=this.model.shown?.places[node]??{},old=this.model.scene?.nodes[node].final?"finished work: no transitio\
n takes them":`oldest ${age(this.model.shown?.oldestAge(node,this.model.now()))}`,words2=row2.tokens===0?"empty":`${plural(row2.tokens,"token")}, ${old}`;return[
el("div",{class:"num"},words2)]}#transition(n,node){let{model:model2}=this,i=node-model2.scene.placeCount,row2=model2.shown?.transitions[i]??{},out=[el("div",{class:"\
num"},`${rate(row2.rate)}, enabled ${count(row2.enabled)}, running ${count(row2.running)}, blocked ${count(row2.blocked)}`)];row2.enabled&&out.push(el("div",{class:"\
num quiet"},`enabled for ${age(model2.shown?.enabledAge(i,model2.now()))}`));let blocked=model2.moment?[]:this.known.get(n.id)?.blocks.slice(0,4)??[];for(let b of blocked)
out.push(el("div",{class:"reason"},`${b.text||b.reason} (${plural(b.instances,"instance")})`));return out}async#ask(node){let{model:model2}=this,n=model2.scene?.
nodes[node],known=n&&this.known.get(n.id);if(!(!n||model2.moment||known&&Date.now()-known.at<fresh))try{let answer2=await ask("transition",{net:model2.where.net,
transition:n.id});this.known.size>100&&this.known.clear(),this.known.set(n.id,{at:Date.now(),blocks:answer2.blocks??[]}),(this.node===node||this.views.now.others.
includes(node))&&this.show()}catch{}}};var most4=200,query=new URLSearchParams(location.search);location.hash||history.replaceState(null,"","#"+query);var chosen=query.get("theme"),theme=new Theme(chosen===
"dark"||chosen==="light"?chosen:""),alarms=query.has("alarms"),model=new Model,canvas=byId("net"),stage=new Stage(model,canvas,theme);lookThere(model,stage);var bpmn=new BpmnStage(
model,byId("bpmn"),theme);new Tip(model,{get now(){return model.bpmn?bpmn:stage}});for(let type of["pointerdown","mousedown","click","dblclick","wheel","touchst\
art","touchmove","keydown"])byId("stage").addEventListener(type,event=>event.target.closest("a")===null&&event.stopPropagation(),{capture:!0,passive:!0});function note(){
let{where,net,overview,live,trouble,moment:moment2}=model;if(trouble)return trouble;if(!moment2&&overview&&where.net&&!net&&!alarms)return overview.nets.length?
`This sidecar has no net “${visible(where.net)}”.`:"The sidecar has received no net yet.";if(!live.up&&live.received)return`The data shown is ${age((Date.now()-
live.received)/1e3)} old.`;if(overview?.nats&&!overview.nats.connected)return"The sidecar has no connection to NATS. The data shown is not current.";if(alarms)return"";
if(moment2)return moment2.asking?`Asking for ${when(moment2.asked)} …`:model.lacks||`The data shown is of ${when(moment2.at)}.`;if(net&&net.sources_up===0)return"\
No source is up: the numbers are those of the last messages.";let hottest2=model.hottest(),place=model.scene?.nodes[hottest2];return place?`oldest ${age(model.shown?.
oldestAge(hottest2,model.now()))} in ${label(place)}`:""}function show(){let{where,net,live,scene}=model;where.table&&model.address.go({table:!1},!0);let called2=alarms?
"Alarms":net?label(net):visible(where.net||"pnagent");say(byId("net-name"),called2),document.title=`${called2.slice(0,80)} – pnagent`,say(byId("note"),note()),
say(byId("link"),live.up?"live":live.received?"reconnecting":"connecting"),byId("link").className=live.up?"link up":"link down",document.documentElement.classList.
toggle("outdated",!live.up&&live.received>0),byId("whole").setAttribute("href","./"+hash(where)),byId("stage").classList.toggle("as-bpmn",model.bpmn||alarms),byId(
"bpmn").hidden=!model.bpmn||alarms,byId("alarms").hidden=!alarms;let sum2=scene&&net?`${called2}: ${plural(net.tokens,"token")}, ${byId("note").textContent}, ${tally(
net)}`:called2;for(let drawing of[canvas,byId("bpmn")])drawing.setAttribute("aria-label",visible(sum2));alarms&&list()}function list(){let{overview,where}=model,
all=(overview?.alarms??[]).filter(a=>matches(a,where.filter)).sort(urgency("")),rest2=all.length-most4+(overview?.alarms_left_out??0),rows=[...all.slice(0,most4),
...rest2>0||!all.length?[null]:[]];syncRows(byId("alarms"),rows,a=>a?`${a.index} ${a.since}`:"more",a=>a?row(a):el("li",{class:"quiet more"}),(li,a)=>{if(!a)return say(
li,rest2>0?`and ${rest2} more`:"No alarm is active.");let[sign,kind,says]=signOf(a),parts=li.querySelectorAll(".mark, .title, .age, .text");say(parts[0],sign),parts[0].
className="mark "+kind,parts[0].setAttribute("aria-label",says),say(parts[1].firstElementChild,subject(a)),say(parts[2],age((model.now()-Date.parse(a.since))/1e3));
let notes=[a.acknowledged&&"acknowledged",a.silenced_until&&"silenced",a.follows&&`follows from lost source ${a.follows}`,a.unknown&&`unknown: ${a.unknown}`,about(
a)&&(a.net_name||a.net)];say(parts[3],[words(a),...notes.filter(Boolean)].join(" · "))})}function row(a){let kind=a.place?"place":a.transition?"transition":"",
to=hash({...model.where,net:a.net??"",kind,id:a.place??a.transition??"",at:0,around:"",filter:{}});return el("li",null,el("a",{class:"row alarm",href:"./"+to,target:"\
_blank",rel:"noopener"},el("span",{class:"mark",role:"img"}),el("span",{class:"title"},name("")),el("span",{class:"age num"}),el("span",{class:"text"})))}addEventListener(
"hashchange",show);model.on("address overview drawing frame link",show);setInterval(show,1e3);model.start();
