package softgen

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
)

type layers struct {
	Attr struct {
		VLAN  struct{ Tags []int } `json:"vlan"`
		Layer struct {
			Ether struct{ Dst, State string }
			IPv4  struct{ Src, Dst, State string }
			IPv6  struct {
				Enabled bool
				Src     string
			}
		} `json:"layer_cfg"`
	}
}

func TestAddressing(t *testing.T) {
	r := newRig(t)
	status := func() layers { return succeed[layers](t, r, "get_port_status", object{"port_id": 0}) }

	succeed[object](t, r, "set_l2", object{"port_id": 0, "dst_mac": "02:aa:00:00:00:01"})
	if got := status().Attr.Layer; got.Ether.Dst != "02:aa:00:00:00:01" || got.Ether.State != "configured" ||
		got.IPv4.State != "none" {
		t.Errorf("after set_l2: %+v", got)
	}
	succeed[object](t, r, "set_l3", object{"port_id": 0, "src_addr": "198.18.0.2", "dst_addr": "198.18.0.1"})
	if got := status().Attr.Layer; got.Ether.State != "unconfigured" || got.IPv4.State != "unresolved" ||
		got.IPv4.Src != "198.18.0.2" {
		t.Errorf("after set_l3 without a MAC: %+v", got)
	}
	succeed[object](t, r, "set_l3", object{"port_id": 0, "src_addr": "198.18.0.2", "dst_addr": "198.18.0.1",
		"resolved_mac": "02:bb:00:00:00:01"})
	if got := status().Attr.Layer; got.Ether.Dst != "02:bb:00:00:00:01" || got.IPv4.State != "resolved" {
		t.Errorf("after set_l3 with a MAC: %+v", got)
	}
	succeed[object](t, r, "conf_ipv6", object{"port_id": 0, "enabled": true, "src_ipv6": ""})
	if got := status().Attr.Layer.IPv6; !got.Enabled || got.Src != "fe80::ff:fe00:10" {
		t.Errorf("link-local address of 02:00:00:00:00:10: %+v", got)
	}
	succeed[object](t, r, "conf_ipv6", object{"port_id": 0, "enabled": true, "src_ipv6": "2001:2::2"})
	if got := status().Attr.Layer; got.IPv6.Src != "2001:2::2" || got.IPv4.State != "resolved" {
		t.Errorf("after conf_ipv6: %+v", got)
	}
	succeed[object](t, r, "conf_ipv6", object{"port_id": 0, "enabled": false})
	succeed[object](t, r, "set_l2", object{"port_id": 0, "dst_mac": "02:aa:00:00:00:01"})
	succeed[object](t, r, "set_vlan", object{"port_id": 0, "vlan": []int{100}})
	if got := status().Attr.VLAN.Tags; len(got) != 1 || got[0] != 100 {
		t.Errorf("tags %v", got)
	}
}

func TestAddressingIsRefused(t *testing.T) {
	r := newRig(t)
	r.acquire(t, 0)
	for _, c := range []struct {
		method  string
		request object
		text    string
	}{
		{"set_l2", object{"dst_mac": "2001:db8::1"}, "'dst_mac': invalid MAC address '2001:db8::1'"},
		{"set_l3", object{"src_addr": "198.18.0.256", "dst_addr": "198.18.0.1"}, "'src_addr': invalid IPv4 address"},
		{"set_l3", object{"src_addr": "2001:2::1", "dst_addr": "198.18.0.1"}, "'src_addr': invalid IPv4 address"},
		{"conf_ipv6", object{"enabled": true, "src_ipv6": "198.18.0.1"}, "invalid IPv6 address"},
		{"set_vlan", object{"vlan": []int{4096}}, "invalid VLAN tag 4096"},
		{"set_vlan", object{"vlan": []int{1, 2}}, "one VLAN tag"},
		{"set_port_attr", object{"attr": object{"rx_filter_mode": "all"}}, "unknown port attribute 'rx_filter_mode'"},
		{"set_port_attr", object{"attr": object{"flow_ctrl_mode": object{"mode": 0}}},
			"operation is not supported for this NIC."},
		{"set_rx_feature", object{"type": "queue", "enabled": true}, "not supported by the software engine"},
	} {
		c.request["port_id"] = 0
		_, failed := r.call(t, c.method, c.request)
		if failed == nil || !strings.Contains(failed.Error(), c.text) {
			t.Errorf("%s %v: %v, want %q", c.method, c.request, failed, c.text)
		}
	}
	succeed[object](t, r, "add_stream", streamOf(0, 1))
	succeed[object](t, r, "start_traffic", start(0, mul("pps", 1), 10))
	r.refuses(t, "set_l2", object{"port_id": 0, "dst_mac": "02:aa:00:00:00:01"}, wire.CodeRefused,
		"command 'set_l2_mode' cannot be executed on current state: 'TX'")
}

func TestHandshake(t *testing.T) {
	r := newRig(t)
	ask := func(name string, major, minor int) object {
		return object{"name": name, "major": major, "minor": minor}
	}
	if got := succeed[struct {
		API string `json:"api_h"`
	}](t, r, "api_sync_v2", ask("STL", 5, 0)).API; got != r.server.apiH {
		t.Errorf("api_h %q", got)
	}
	r.refuses(t, "api_sync_v2", ask("STL", 5, 2), wire.CodeRefused, "too new")
	r.refuses(t, "api_sync_v2", ask("STL", 4, 9), wire.CodeRefused, "a newer client version is required")
	r.refuses(t, "api_sync_v2", ask("ASTF", 5, 1), wire.CodeRefused,
		"server RPC configuration: 'STL', client RPC configuration: 'ASTF'")
	old := succeed[struct {
		Versions []struct {
			API string `json:"api_h"`
		} `json:"api_vers"`
	}](t, r, "api_sync", object{"api_vers": []object{{"type": "core", "major": 5, "minor": 1}}})
	if len(old.Versions) != 1 || old.Versions[0].API != r.server.apiH {
		t.Errorf("api_sync: %+v", old)
	}
	r.refuses(t, "get_system_info", object{"api_h": "wrong"}, wire.CodeRefused, "API verification failed")
	r.refuses(t, "get_system_info", object{"api_h": nil}, wire.CodeParams, "field 'api_h' value is null")
}

func TestParameters(t *testing.T) {
	for text, want := range map[string]string{
		`{"n":5}`: "", `{"n":5.0}`: "", `{"n":255}`: "", `{"n":2.55e2}`: "",
		`{}`:            "field 'n' value is null",
		`{"n":null}`:    "field 'n' value is null",
		`{"n":-1}`:      "field 'n' has negative value.",
		`{"n":256}`:     "field 'n' has size bigger than uint8.",
		`{"n":5.5}`:     "'n' is 'number', expecting 'byte'",
		`{"n":"5"}`:     "'n' is 'string', expecting 'byte'",
		`{"n":"0x5"}`:   "'n' is 'string', expecting 'byte'",
		`{"n":true}`:    "'n' is 'boolean', expecting 'byte'",
		`{"n":1e400}`:   "'n' is 'number', expecting 'byte'",
		`{"n":[1]}`:     "'n' is 'array', expecting 'byte'",
		`{"n":{"a":1}}`: "'n' is 'object', expecting 'byte'",
	} {
		p, err := readObject(json.RawMessage(text))
		if err != nil {
			t.Fatal(err)
		}
		p.byte("n")
		got := ""
		if err := p.failed(); err != nil {
			got = strings.TrimSuffix(err.Error(), " (code -32602)")
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
