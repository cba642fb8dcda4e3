//go:build trex

package realtrex

import (
	"errors"
	"net/netip"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/trex"
)

// methods are those that linerate calls.
var methods = []string{
	"acquire", "add_stream", "api_sync_v2", "capture", "conf_ipv6", "get_active_pgids", "get_all_streams", "get_async_events", "get_global_stats",
	"get_owner", "get_pgid_stats", "get_port_stats", "get_port_status", "get_port_xstats_names", "get_port_xstats_values", "get_profile_list",
	"get_supported_cmds", "get_system_info", "get_utilization", "get_version", "ping", "push_pkts", "release", "remove_all_streams",
	"remove_rx_filters", "service", "set_l2", "set_l3", "set_port_attr", "set_vlan", "start_traffic", "stop_traffic", "update_traffic", "validate",
}

func TestTheServerHasAllMethods(t *testing.T) {
	c := dial(t, "realtrex")
	known, err := c.SupportedCommands(t.Context())
	must(t, err)
	for _, m := range methods {
		if !slices.Contains(known, m) {
			t.Errorf("%s doesn't know %s", c.Version(), m)
		}
	}
	info, err := c.SystemInfo(t.Context())
	must(t, err)
	if len(info.Ports) < ports || info.Ports[0].MAC == "" || info.Ports[0].Driver == "" {
		t.Errorf("system %+v", info)
	}
}

// TestIPv6: the parameters are known, and a stack that can't do it says so in words that are expected.
func TestIPv6(t *testing.T) {
	c := claim(t)
	address := netip.MustParseAddr("2001:2::2")
	err := c.SetIPv6(t.Context(), 0, address)
	if err != nil {
		refusal, ok := errors.AsType[*trex.RPCError](err)
		if !ok || !strings.Contains(refusal.Specific, "IPv6 is not supported") {
			t.Fatalf("conf_ipv6: %v", err)
		}
		return
	}
	status, err := c.PortStatus(t.Context(), 0)
	must(t, err)
	if v6 := status.Attributes.Layer.IPv6; !v6.Enabled || v6.Source != address.String() {
		t.Errorf("IPv6 is %+v", v6)
	}
	must(t, c.SetIPv6(t.Context(), 0, netip.Addr{}))
}

func TestVLAN(t *testing.T) {
	c := claim(t)
	for _, tags := range [][]uint16{{100}, {100, 200}, {}} {
		must(t, c.SetVLAN(t.Context(), 0, tags...))
		status, err := c.PortStatus(t.Context(), 0)
		must(t, err)
		if got := status.Attributes.VLAN.Tags; !slices.Equal(got, tags) {
			t.Errorf("tags %v, want %v", got, tags)
		}
	}
}

func TestPortSettings(t *testing.T) {
	c := claim(t)
	for _, on := range []bool{true, false} {
		must(t, c.SetPromiscuous(t.Context(), 0, on))
		status, err := c.PortStatus(t.Context(), 0)
		must(t, err)
		if status.Attributes.Promiscuous.Enabled != on {
			t.Errorf("promiscuous %+v, want %v", status.Attributes.Promiscuous, on)
		}
		if err := c.SetMulticast(t.Context(), 0, on); err != nil {
			t.Logf("multicast %v: %v", on, err)
		}
	}
	if err := c.SetFlowControl(t.Context(), 0, 0); err != nil {
		t.Logf("flow control: %v", err)
	}
}

// TestCapturesOfOthers: captures have no owner; this client's and those that others left are found and ended.
func TestCapturesOfOthers(t *testing.T) {
	c := claim(t)
	must(t, c.SetService(t.Context(), 0, true))
	_, err := c.StartCapture(t.Context(), []int{0}, 10, "arp")
	must(t, err)
	must(t, c.SetService(t.Context(), 1, true))
	_, err = c.StartCapture(t.Context(), []int{0, 1}, 10, "")
	must(t, err)
	if err := c.SetService(t.Context(), 0, false); err == nil {
		t.Error("a port with a capture left service mode")
	}
	for port := range ports {
		must(t, c.RemoveCaptures(t.Context(), port))
		must(t, c.SetService(t.Context(), port, false))
	}
}

// TestLinkEvents: event 8 reports a link that goes down, with its state, and start_traffic refuses.
func TestLinkEvents(t *testing.T) {
	if *linkDown == "" || *linkUp == "" {
		t.Skip("needs -link-down and -link-up")
	}
	c := claim(t)
	_, err := c.Events(t.Context())
	must(t, err)
	for _, step := range []struct {
		command string
		up      bool
	}{{*linkDown, false}, {*linkUp, true}} {
		if out, err := exec.Command("sh", "-c", step.command).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", step.command, err, out)
		}
		e := awaitEvent(t, c, func(e trex.Event) bool {
			return e.Type == trex.AttributeChanged && e.Port == 0 && e.LinkUp != nil && *e.LinkUp == step.up
		})
		status, err := c.PortStatus(t.Context(), 0)
		must(t, err)
		if status.Attributes.Link.Up != step.up {
			t.Errorf("after event %+v the status says %+v", e, status.Attributes.Link)
		}
	}
}

func awaitEvent(t *testing.T, c *trex.Client, wanted func(trex.Event) bool) trex.Event {
	t.Helper()
	var seen []trex.Event
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		events, err := c.Events(t.Context())
		must(t, err)
		for _, e := range events {
			if wanted(e) {
				return e
			}
		}
		seen = append(seen, events...)
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("it never came; there were %+v", seen)
	return trex.Event{}
}
