// The chain of bench/sim.py in ns-3: S -1G- r1 -10G- r2 ... r6 -1G- D, and cross flow i from a source
// at r_i to a sink at r_{i+1}. Prints the payload that each sink received, in bytes.
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <iostream>
#include <vector>

using namespace ns3;

// Loses the last packet of every so many.
class PeriodicErrorModel : public ErrorModel
{
  public:
    explicit PeriodicErrorModel(uint64_t every)
        : m_every(every)
    {
    }

  private:
    bool DoCorrupt(Ptr<Packet>) override
    {
        return ++m_passed % m_every == 0;
    }

    void DoReset() override
    {
        m_passed = 0;
    }

    uint64_t m_every;
    uint64_t m_passed{0};
};

int
main(int argc, char* argv[])
{
    uint32_t flows = 1;
    double seconds = 1;
    uint64_t every = 0;
    uint32_t ackEvery = 2;
    uint32_t payload = 8948;
    uint32_t window = 1000;
    CommandLine command;
    command.AddValue("flows", "1, or 6 with cross traffic", flows);
    command.AddValue("seconds", "simulated", seconds);
    command.AddValue("every", "packets from loss to loss before each sink; 0: none", every);
    command.AddValue("ack-every", "segments for one acknowledgement", ackEvery);
    command.AddValue("payload", "of a segment, in bytes", payload);
    command.AddValue("window", "largest, in segments", window);
    command.Parse(argc, argv);

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpNewReno"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(payload));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(ackEvery));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(40)));
    // The send buffer limits the window: where the receive buffer does, 3.37 crashes at the first loss
    // (TcpRateLinux::SkbSent is handed no item).
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(8 * window * payload));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(window * payload));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::BulkSendApplication::SendSize", UintegerValue(payload));
    Config::SetDefault("ns3::DropTailQueue<Packet>::MaxSize", StringValue("1000p"));

    NodeContainer routers;
    routers.Create(6);
    NodeContainer sources;
    sources.Create(flows);
    NodeContainer sinks;
    sinks.Create(flows);
    InternetStackHelper internet;
    internet.Install(routers);
    internet.Install(sources);
    internet.Install(sinks);

    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    TrafficControlHelper trafficControl;
    auto connect = [&](Ptr<Node> a, Ptr<Node> b, const std::string& rate, const std::string& delay) {
        PointToPointHelper link;
        link.SetDeviceAttribute("DataRate", StringValue(rate));
        link.SetDeviceAttribute("Mtu", UintegerValue(9000));
        link.SetChannelAttribute("Delay", StringValue(delay));
        NetDeviceContainer devices = link.Install(a, b);
        Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
        addresses.NewNetwork();
        trafficControl.Uninstall(devices);
        return std::make_pair(devices, interfaces);
    };
    for (uint32_t i = 0; i < 5; ++i)
    {
        connect(routers.Get(i), routers.Get(i + 1), "10Gbps", "6ms");
    }
    std::vector<Ptr<PacketSink>> received;
    for (uint32_t flow = 0; flow < flows; ++flow)
    {
        const uint32_t first = flow == 0 ? 0 : flow - 1;
        const uint32_t last = flow == 0 ? 5 : flow;
        connect(sources.Get(flow), routers.Get(first), "1Gbps", "1us");
        auto [devices, interfaces] = connect(routers.Get(last), sinks.Get(flow), "1Gbps", "1us");
        if (every > 0)
        {
            devices.Get(1)->SetAttribute("ReceiveErrorModel",
                                         PointerValue(CreateObject<PeriodicErrorModel>(every)));
        }
        InetSocketAddress place(interfaces.GetAddress(1), 5000);
        PacketSinkHelper sink("ns3::TcpSocketFactory", place);
        ApplicationContainer drain = sink.Install(sinks.Get(flow));
        received.push_back(DynamicCast<PacketSink>(drain.Get(0)));
        BulkSendHelper bulk("ns3::TcpSocketFactory", place);
        bulk.Install(sources.Get(flow)).Start(Seconds(0));
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    for (const auto& sink : received)
    {
        std::cout << sink->GetTotalRx() << std::endl;
    }
    Simulator::Destroy();
    return 0;
}
