# Congestion that increases or decreases in the middle of a run, for ns-2:
#     ns dumbbell.tcl KEY VALUE ...
# Prints when flows start, and for each half the share of packets that the
# bottleneck dropped (%), the bits a second that left it and the packets that
# waited, on average over time. `trace FILE` writes what happened there.
array set is {
    scenario increase queue red size 1500 limit 35 agent Sack1 seed 1
    min 5 max 15 inverse 10 weight 0.0027 gentle true adaptive 0 bytes false
    bottleneck 1.5Mb delay 20ms access 10Mb half 25
    ends {2 3 4 5} window 1000 few 20 many 20 trace {}
}
array set is $argv
remove-all-packet-headers
add-packet-header Flags IP TCP

# A size is that of a packet, headers included.
Agent/TCP set packetSize_ [expr $is(size) - 40]
foreach {name value} [list \
    thresh_ $is(min) maxthresh_ $is(max) linterm_ $is(inverse) q_weight_ $is(weight) \
    gentle_ $is(gentle) adaptive_ $is(adaptive) mean_pktsize_ $is(size) \
    bytes_ $is(bytes) queue_in_bytes_ $is(bytes) \
    wait_ true setbit_ false cautious_ 0 alpha_ 0.01 beta_ 0.9 interval_ 0.5 \
    top_ 0.5 bottom_ 0.01] {
    Queue/RED set $name $value
}
switch $is(queue) {
    red { set kind RED }
    red-front { set kind RED; Queue/RED set drop_front_ true; Queue/RED set drop_tail_ false }
    tail { set kind DropTail }
    front { set kind DropTail; Queue/DropTail set drop_front_ true }
}

ns-random $is(seed)
set starts [new RNG]
$starts seed [expr 1000 + $is(seed)]
set ns [new Simulator]
foreach name {a b r s c d} { set node($name) [$ns node] }
proc join {one other rate delay kind limit} {
    global ns node
    $ns duplex-link $node($one) $node($other) $rate $delay $kind
    foreach {from to} [list $one $other $other $one] {
        $ns queue-limit $node($from) $node($to) $limit
    }
}
join r s $is(bottleneck) $is(delay) $kind $is(limit)
Queue/DropTail set drop_front_ false
foreach {host router} {a r b r c s d s} delay $is(ends) {
    join $host $router $is(access) ${delay}ms DropTail 1000
}

set begins {}
proc flow {from to window start stop} {
    global ns node is begins
    set sink [expr {$is(agent) eq "Sack1" ? "TCPSink/Sack1" : "TCPSink"}]
    set class [expr {$is(agent) eq "Tahoe" ? "TCP" : "TCP/$is(agent)"}]
    set agent [$ns create-connection $class $node($from) $sink $node($to) [llength $begins]]
    $agent set window_ $window
    set source [$agent attach-app FTP]
    $ns at $start "$source start"
    if {$stop > 0} { $ns at $stop "$source stop" }
    lappend begins $start
}
flow a c $is(window) [$starts uniform 0 1] 0
flow b c $is(window) [$starts uniform 0 1] 0
flow d b $is(window) [$starts uniform 0 1] 0
for {set number 0} {$number < $is(many)} {incr number} {
    set at [expr 0.1 * $number]
    if {$is(scenario) eq "increase"} {
        flow a c $is(few) [expr $is(half) + $at] 0
    } else {
        flow a c $is(few) $at $is(half)
    }
}

set monitor [$ns monitor-queue $node(r) $node(s) ""]
set waiting [$monitor get-pkts-integrator]
set before {0 0 0 0}
proc count {} {
    global ns monitor waiting before is
    $waiting newpoint [$ns now] [$monitor set pkts_]
    set now [list [$monitor set parrivals_] [$monitor set pdrops_] [$monitor set bdepartures_] [$waiting set sum_]]
    foreach a $now b $before { lappend since [expr {$a - $b}] }
    set before $now
    foreach {arrivals drops bytes packets} $since {}
    puts "[expr 100.0 * $drops / $arrivals] [expr 8.0 * $bytes / $is(half)] [expr $packets / $is(half)]"
}
puts $begins
if {$is(trace) ne {}} { $ns trace-queue $node(r) $node(s) [open $is(trace) w] }
$ns at $is(half) count
$ns at [expr 2 * $is(half)] "count; exit 0"
$ns run
