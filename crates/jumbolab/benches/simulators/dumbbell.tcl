# The dumbbell of this benchmark for ns-2.35 [Ns2]: so many connections of
# Sack1, each over access links of its own, through one bottleneck with RED.
#
#     ns dumbbell.tcl MEGABITS FLOWS SECONDS BYTES LIMIT MIN MAX
#
# Prints what came to the bottleneck, what was dropped there, and the bytes
# that left. Only headers that are used take memory, nothing is traced, and
# routes are given instead of worked out. The scheduler is ns-2's default.

foreach {megabits flows seconds bytes limit min max} $argv break

remove-all-packet-headers
add-packet-header IP TCP Flags
set ns [new Simulator]
$ns rtproto Manual
ns-random 1

Agent/TCP set packetSize_ [expr $bytes - 40]
Agent/TCP set window_ 1000
Agent/TCP set useHeaders_ true
Queue/RED set thresh_ $min
Queue/RED set maxthresh_ $max
Queue/RED set q_weight_ 0.002
Queue/RED set linterm_ 10
Queue/RED set gentle_ true
Queue/RED set bytes_ false
Queue/RED set queue_in_bytes_ false
Queue/RED set mean_pktsize_ $bytes
Queue/RED set setbit_ false

set left [$ns node]
set right [$ns node]
$ns duplex-link $left $right ${megabits}Mb 10ms RED
$ns queue-limit $left $right $limit
$ns queue-limit $right $left $limit
set monitor [$ns monitor-queue $left $right ""]
[$left get-module "Manual"] add-route-to-adj-node -default $right
[$right get-module "Manual"] add-route-to-adj-node -default $left

for {set flow 0} {$flow < $flows} {incr flow} {
    set from [$ns node]
    set to [$ns node]
    foreach {host router} [list $from $left $to $right] {
        $ns duplex-link $host $router ${megabits}Mb 2ms DropTail
        $ns queue-limit $host $router 1000
        $ns queue-limit $router $host 1000
        [$host get-module "Manual"] add-route-to-adj-node -default $router
        [$router get-module "Manual"] add-route-to-adj-node $host
    }
    set sender [$ns create-connection TCP/Sack1 $from TCPSink/Sack1 $to $flow]
    set source [$sender attach-app FTP]
    $ns at [expr 0.2 * $flow / $flows] "$source start"
}

$ns at $seconds {
    puts "arrived [$monitor set parrivals_] dropped [$monitor set pdrops_] bytes [$monitor set bdepartures_]"
    exit 0
}
$ns run
