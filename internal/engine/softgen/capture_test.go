package softgen

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
)

// arpRequest asks who has 198.18.1.2, on behalf of 198.18.0.2 at the west port.
func arpRequest() []byte {
	return slices.Concat([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 0x10, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1},
		[]byte{2, 0, 0, 0, 0, 0x10, 198, 18, 0, 2}, make([]byte, 6), []byte{198, 18, 1, 2})
}

func push(port int, frames ...[]byte) object {
	list := []object{}
	for _, f := range frames {
		list = append(list, object{"binary": base64.StdEncoding.EncodeToString(f), "use_port_dst_mac": false,
			"use_port_src_mac": false})
	}
	return object{"port_id": port, "pkts": list, "ipg_usec": 0, "force": true}
}

type fetched struct {
	Pending int
	Pkts    []struct {
		Binary []byte
		Origin string
		Port   int
		Index  int
	}
}

func capture(t *testing.T, r *rig, change object) int {
	t.Helper()
	request := object{"command": "start", "limit": 2, "mode": "fixed", "tx": []int{}, "rx": []int{1}, "filter": ""}
	for name, value := range change {
		request[name] = value
	}
	return succeed[struct {
		ID int `json:"capture_id"`
	}](t, r, "capture", request).ID
}

func fetch(t *testing.T, r *rig, id, limit int) fetched {
	t.Helper()
	return succeed[fetched](t, r, "capture", object{"command": "fetch", "capture_id": id, "pkt_limit": limit})
}

func serviceRig(t *testing.T) *rig {
	t.Helper()
	r := newRig(t)
	r.acquire(t, 0, 1)
	for port := range 2 {
		succeed[object](t, r, "service", object{"port_id": port, "enabled": true})
	}
	return r
}

func TestAddressResolution(t *testing.T) {
	r := serviceRig(t)
	succeed[object](t, r, "set_l3", object{"port_id": 0, "src_addr": "198.18.0.2", "dst_addr": "198.18.1.2"})
	succeed[object](t, r, "set_l3", object{"port_id": 1, "src_addr": "198.18.1.2", "dst_addr": "198.18.0.2"})
	id := capture(t, r, object{"rx": []int{0}, "filter": "arp or (vlan and arp)"})
	succeed[object](t, r, "push_pkts", push(0, arpRequest()))
	got := fetch(t, r, id, 10)
	if len(got.Pkts) != 1 || !strings.HasPrefix(string(got.Pkts[0].Binary[6:]), "\x02\x00\x00\x00\x00\x11\x08\x06") {
		t.Errorf("got %+v; want one ARP answer of the east port", got)
	}
}

func TestCapture(t *testing.T) {
	first, second, third := append(arpRequest(), 1), append(arpRequest(), 2), append(arpRequest(), 3)
	t.Run("a fixed capture keeps the first frames", func(t *testing.T) {
		r := serviceRig(t)
		id := capture(t, r, nil)
		succeed[object](t, r, "push_pkts", push(0, first, second, third))
		first := fetch(t, r, id, 1)
		if first.Pending != 1 || len(first.Pkts) != 1 || first.Pkts[0].Binary[42] != 1 || first.Pkts[0].Index != 1 ||
			first.Pkts[0].Port != 1 {
			t.Errorf("first fetch: %+v", first)
		}
		if second := fetch(t, r, id, 10); second.Pending != 0 || len(second.Pkts) != 1 ||
			second.Pkts[0].Binary[42] != 2 {
			t.Errorf("second fetch: %+v", second)
		}
	})
	t.Run("a cyclic capture keeps the last frames", func(t *testing.T) {
		r := serviceRig(t)
		id := capture(t, r, object{"mode": "cyclic"})
		succeed[object](t, r, "push_pkts", push(0, first, second, third))
		if got := fetch(t, r, id, 10); len(got.Pkts) != 2 || got.Pkts[0].Binary[42] != 2 || got.Pkts[1].Index != 3 {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("sent frames are captured if the request asks for them", func(t *testing.T) {
		r := serviceRig(t)
		id := capture(t, r, object{"tx": []int{0}, "rx": []int{}})
		succeed[object](t, r, "push_pkts", push(0, first))
		if got := fetch(t, r, id, 10); len(got.Pkts) != 1 || got.Pkts[0].Origin != "TX" || got.Pkts[0].Port != 0 {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("a stopped capture takes no more, and is listed until removed", func(t *testing.T) {
		r := serviceRig(t)
		id := capture(t, r, nil)
		r.refuses(t, "service", object{"port_id": 1, "enabled": false}, wire.CodeRefused,
			"an active capture on port 1 exists")
		succeed[object](t, r, "capture", object{"command": "stop", "capture_id": id})
		succeed[object](t, r, "push_pkts", push(0, first))
		type listed struct {
			State string
			Count int
		}
		if got := succeed[[]listed](t, r, "capture", object{"command": "status"}); len(got) != 1 ||
			got[0] != (listed{"STOPPED", 0}) {
			t.Errorf("status %+v", got)
		}
		succeed[object](t, r, "service", object{"port_id": 1, "enabled": false})
		succeed[object](t, r, "capture", object{"command": "remove", "capture_id": id})
		r.refuses(t, "capture", object{"command": "fetch", "capture_id": id, "pkt_limit": 1}, wire.CodeRefused,
			"does not exist")
	})
	t.Run("ten captures run at once, and no more", func(t *testing.T) {
		r := serviceRig(t)
		for range maxCaptures {
			capture(t, r, nil)
		}
		r.refuses(t, "capture", object{"command": "start", "limit": 1, "mode": "fixed", "tx": []int{}, "rx": []int{1}},
			wire.CodeRefused, "remove one")
	})
	t.Run("a capture without service mode is refused", func(t *testing.T) {
		newRig(t).refuses(t, "capture", object{"command": "start", "limit": 1, "mode": "fixed", "tx": []int{},
			"rx": []int{1}},
			wire.CodeRefused, "only under service mode")
	})
	t.Run("pushing for longer than a second is refused", func(t *testing.T) {
		r := serviceRig(t)
		request := push(0, first, second)
		request["ipg_usec"] = 1e6
		r.refuses(t, "push_pkts", request, wire.CodeRefused, "one request may take 1s")
	})
}

func TestFilter(t *testing.T) {
	frame := func(head string, tail ...byte) []byte {
		return slices.Concat(make([]byte, 12), []byte(head), tail, make([]byte, 40))
	}
	arp, taggedARP := frame("\x08\x06"), frame("\x81\x00\x00\x05\x08\x06")
	doubleARP := frame("\x81\x00\x00\x05\x81\x00\x00\x06\x08\x06")
	udp := frame("\x08\x00", 0x45, 0, 0, 0, 0, 0, 0, 0, 64, 17)
	icmp6 := frame("\x86\xdd", 0x60, 0, 0, 0, 0, 0, 58)
	for text, wants := range map[string][]bool{ // of arp, taggedARP, doubleARP, udp, icmp6
		"":    {true, true, true, true, true},
		"arp": {true, false, false, false, false},
		"arp or (vlan and arp) or (vlan and arp)": {true, true, true, false, false},
		"vlan and arp":        {false, true, false, false, false},
		"not arp":             {false, true, true, true, true},
		"udp || icmp6":        {false, false, false, true, true},
		"ip && !udp":          {false, false, false, false, false},
		"(ip or ip6)":         {false, false, false, true, true},
		"vlan":                {false, true, true, false, false},
		"vlan and vlan":       {false, false, true, false, false},
		"not (arp or udp)":    {false, true, true, false, true},
		"tcp or icmp":         {false, false, false, false, false},
		"ip6 and not icmp":    {false, false, false, false, true},
		"arp and ip or udp":   {false, false, false, true, false},
		"arp and (ip or udp)": {false, false, false, false, false},
	} {
		wanted, err := parseFilter(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		var got []bool
		for _, f := range [][]byte{arp, taggedARP, doubleARP, udp, icmp6} {
			got = append(got, wanted(f))
		}
		if !slices.Equal(got, wants) {
			t.Errorf("%q wants %v, want %v", text, got, wants)
		}
	}
	for _, text := range []string{"arp or", "(arp", "arp)", "host 1.2.3.4", "not", "and", strings.Repeat("(", 10_000)} {
		if _, err := parseFilter(text); err == nil {
			t.Errorf("%.20q was understood", text)
		}
	}
}

func FuzzFilter(f *testing.F) {
	f.Add("arp or (vlan and arp)", []byte("0123456789ab\x81\x00\x00\x05\x08\x06"))
	f.Add("not (not udp)", []byte{})
	f.Fuzz(func(t *testing.T, text string, frame []byte) {
		wanted, err := parseFilter(text)
		if err != nil {
			return
		}
		opposite, err := parseFilter("not (" + text + ")")
		if strings.TrimSpace(text) == "" {
			return
		}
		if err == nil && wanted(frame) == opposite(frame) {
			t.Errorf("%q and its opposite agree on %x", text, frame)
		}
	})
}
