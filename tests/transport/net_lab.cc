#include "tests/transport/net_lab.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "lib/text.h"

namespace benchctl::testing {

NetLab::NetLab() : name_("bcl" + random_hex(3)) {
  sh("for n in c r m; do ip netns add $N$n && ip -n $N$n link set lo up || exit 1; done;"
     "ip link add name ctl netns ${N}c type veth peer name rtc netns ${N}r && ip link add name rtm netns ${N}r type "
     "veth peer name mch netns "
     "${N}m;"
     "ip -n ${N}c addr add 10.213.1.2/24 dev ctl; ip -n ${N}c addr add fd00:213:1::2/64 dev ctl nodad;"
     "ip -n ${N}r addr add 10.213.1.1/24 dev rtc; ip -n ${N}r addr add fd00:213:1::1/64 dev rtc nodad;"
     "ip -n ${N}r addr add 10.213.2.1/24 dev rtm; ip -n ${N}r addr add fd00:213:2::1/64 dev rtm nodad;"
     "ip -n ${N}m addr add 10.213.2.2/24 dev mch; ip -n ${N}m addr add fd00:213:2::2/64 dev mch nodad;"
     "ip -n ${N}c link set ctl up; ip -n ${N}r link set rtc up; ip -n ${N}r link set rtm up; ip -n ${N}m link set mch "
     "up;"
     "ip -n ${N}c route add default via 10.213.1.1; ip -n ${N}c -6 route add default via fd00:213:1::1;"
     "ip -n ${N}m route add default via 10.213.2.1; ip -n ${N}m -6 route add default via fd00:213:2::1;"
     "ip -n ${N}r route add blackhole 10.213.9.0/24;"
     "ip netns exec ${N}r sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1");
  // What the router itself would say (no route, packet too big) goes nowhere: it only forwards.
  sh("ip -n ${N}r rule add pref 1 iif lo blackhole; ip -n ${N}r -6 rule add pref 1 iif lo blackhole");
}

NetLab::~NetLab() {
  // Sessions whose other side vanished would stay for good.
  sh("for n in c r m; do ip netns pids $N$n | xargs -r kill -KILL; ip netns del $N$n; done");
}

void NetLab::cut() {
  sh("ip -n ${N}r link set rtm down");
}

void NetLab::mend() {
  sh("ip -n ${N}r link set rtm up; ip -n ${N}r -6 addr add fd00:213:2::1/64 dev rtm nodad 2>/dev/null; true");
}

void NetLab::narrow(int mtu) {
  sh("ip -n ${N}r link set rtm mtu " + std::to_string(mtu));
}

void NetLab::sh(const std::string& script) {
  int end = std::system(("N=" + name_ + "; " + script).c_str());
  EXPECT_EQ(0, end) << script;
  ok_ = ok_ && end == 0;
}

}  // namespace benchctl::testing
