// The dumbbell of this benchmark for ns-3 [Ns3]: so many connections with SACK,
// each over access links of its own, through one bottleneck with RED.
//
//     dumbbell MEGABITS FLOWS SECONDS BYTES LIMIT MIN MAX
//
// Prints what came to the bottleneck, what was dropped there, and the bytes
// that left. Nothing is traced.

#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

using namespace ns3;

int main(int count, char** words) {
    if (count != 8) {
        std::cerr << "dumbbell MEGABITS FLOWS SECONDS BYTES LIMIT MIN MAX" << std::endl;
        return 2;
    }
    const std::string rate = std::string(words[1]) + "Mbps";
    const uint32_t flows = std::atoi(words[2]);
    const double seconds = std::atof(words[3]);
    const uint32_t bytes = std::atoi(words[4]);
    const std::string limit = std::string(words[5]) + "p";

    // Headers of IP and of TCP with timestamps take 52 bytes; the link's own
    // header of 2 bytes is the only thing that comes on top.
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(bytes - 52));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1000 * bytes));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1000 * bytes));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpLinuxReno::GetTypeId()));
    Config::SetDefault("ns3::PointToPointNetDevice::Mtu", UintegerValue(bytes));

    NodeContainer routers;
    routers.Create(2);
    NodeContainer senders;
    senders.Create(flows);
    NodeContainer receivers;
    receivers.Create(flows);

    InternetStackHelper internet;
    Ipv4StaticRoutingHelper routing;
    internet.SetRoutingHelper(routing);
    internet.SetIpv6StackInstall(false);
    internet.InstallAll();

    PointToPointHelper wire;
    wire.SetDeviceAttribute("DataRate", StringValue(rate));
    wire.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1p"));
    wire.SetChannelAttribute("Delay", StringValue("10ms"));
    NetDeviceContainer middle = wire.Install(routers);
    TrafficControlHelper control;
    control.SetRootQueueDisc("ns3::RedQueueDisc",
                             "MaxSize", StringValue(limit),
                             "MinTh", DoubleValue(std::atof(words[6])),
                             "MaxTh", DoubleValue(std::atof(words[7])),
                             "QW", DoubleValue(0.002),
                             "LInterm", DoubleValue(10),
                             "Gentle", BooleanValue(true),
                             "MeanPktSize", UintegerValue(bytes),
                             "LinkBandwidth", StringValue(rate),
                             "LinkDelay", StringValue("10ms"));
    Ptr<QueueDisc> queue = control.Install(middle).Get(0);
    Ipv4AddressHelper addresses;
    addresses.SetBase("192.168.0.0", "255.255.255.0");
    Ipv4InterfaceContainer ends = addresses.Assign(middle);

    PointToPointHelper access;
    access.SetDeviceAttribute("DataRate", StringValue(rate));
    access.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1000p"));
    access.SetChannelAttribute("Delay", StringValue("2ms"));
    const auto attach = [&](Ptr<Node> host, uint32_t side, uint32_t flow) {
        NetDeviceContainer devices = access.Install(host, routers.Get(side));
        std::ostringstream base;
        base << 10 + side << "." << flow / 256 << "." << flow % 256 << ".0";
        addresses.SetBase(base.str().c_str(), "255.255.255.0");
        Ipv4InterfaceContainer pair = addresses.Assign(devices);
        routing.GetStaticRouting(host->GetObject<Ipv4>())
            ->SetDefaultRoute(pair.GetAddress(1), 1);
        return pair.GetAddress(0);
    };
    for (uint32_t side = 0; side < 2; side++) {
        // Two routers need to know only each other.
        Ptr<Ipv4> router = routers.Get(side)->GetObject<Ipv4>();
        routing.GetStaticRouting(router)->SetDefaultRoute(ends.GetAddress(1 - side), 1);
    }

    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5000));
    for (uint32_t flow = 0; flow < flows; flow++) {
        attach(senders.Get(flow), 0, flow);
        const Ipv4Address to = attach(receivers.Get(flow), 1, flow);
        sink.Install(receivers.Get(flow)).Start(Seconds(0));
        BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(to, 5000));
        source.SetAttribute("SendSize", UintegerValue(bytes - 52));
        source.Install(senders.Get(flow)).Start(Seconds(0.2 * flow / flows));
    }

    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    const QueueDisc::Stats stats = queue->GetStats();
    const auto arrived = stats.nTotalReceivedPackets;
    std::cout << "arrived " << arrived << " dropped " << stats.nTotalDroppedPackets
              << " bytes " << stats.nTotalSentBytes << std::endl;
    return 0;
}
