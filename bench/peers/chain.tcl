# The chain of bench/sim.py in ns-2: S -1G- r1 -10G- r2 ... r6 -1G- D, and cross flow i from a source
# at r_i to a sink at r_{i+1}. Prints the payload of each flow that was acknowledged, in bytes.
# Arguments: flows, simulated seconds, packets from loss to loss before each sink (0: none), segments
# for one acknowledgement (1 or 2), payload of a segment in bytes, largest window in segments, and
# whether packets carry only the headers that are needed and events wait in a splay tree (1), or ns-2 runs
# as it comes, with all headers and a calendar queue (0).
lassign $argv flows seconds every ackEvery payload window tuned

if {$tuned} {
    remove-all-packet-headers
    add-packet-header IP TCP Flags
}
set ns [new Simulator]
if {$tuned} {
    $ns use-scheduler Splay
}

# 9000 bytes on the wire, as the others have with their timestamps.
Agent/TCP set tcpip_base_hdr_size_ 40
Agent/TCP set packetSize_ [expr 9000 - 40]
Agent/TCP set window_ $window
Agent/TCP set windowInit_ 2
Agent/TCP set minrto_ 0.2
Agent/TCPSink/Sack1/DelAck set interval_ 40ms
Queue set limit_ 1000

for {set i 1} {$i <= 6} {incr i} {
    set router($i) [$ns node]
}
for {set i 1} {$i <= 5} {incr i} {
    $ns duplex-link $router($i) $router([expr $i + 1]) 10Gb 6ms DropTail
}
for {set flow 0} {$flow < $flows} {incr flow} {
    set first [expr {$flow == 0 ? 1 : $flow}]
    set last [expr {$flow == 0 ? 6 : $flow + 1}]
    set source [$ns node]
    set sink [$ns node]
    $ns duplex-link $source $router($first) 1Gb 1us DropTail
    $ns duplex-link $router($last) $sink 1Gb 1us DropTail
    if {$every > 0} {
        set loss [new ErrorModel/Periodic]
        $loss unit pkt
        $loss set period_ $every
        $loss set offset_ [expr $every - 1]
        $loss set burstlen_ 1
        $loss drop-target [new Agent/Null]
        $ns link-lossmodel $loss $router($last) $sink
    }
    set tcp($flow) [new Agent/TCP/Sack1]
    set drain [new Agent/TCPSink/Sack1[expr {$ackEvery > 1 ? "/DelAck" : ""}]]
    $ns attach-agent $source $tcp($flow)
    $ns attach-agent $sink $drain
    $ns connect $tcp($flow) $drain
    set ftp($flow) [new Application/FTP]
    $ftp($flow) attach-agent $tcp($flow)
    $ns at 0 "$ftp($flow) start"
}
$ns at $seconds {
    for {set flow 0} {$flow < $flows} {incr flow} {
        puts [expr ([$tcp($flow) set ack_] + 1) * $payload]
    }
    exit 0
}
$ns run
