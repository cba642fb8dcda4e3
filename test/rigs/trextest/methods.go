package trextest

import (
	"maps"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
)

type object = map[string]any

// table names the method that answers each call.
func (g *Generator) table() map[string]AnswerFunc {
	return map[string]AnswerFunc{
		"get_version":            getVersion,
		"ping":                   func(Call) (any, error) { return object{"ts": g.clock()}, nil },
		"api_sync_v2":            g.apiSync,
		"get_supported_cmds":     func(Call) (any, error) { return slices.Sorted(maps.Keys(g.methods)), nil },
		"get_system_info":        g.getSystemInfo,
		"get_port_status":        g.onPort(g.getPortStatus),
		"acquire":                g.onPort(g.acquire),
		"release":                g.onOwned(g.release),
		"get_owner":              g.onPort((*port).getOwner),
		"get_profile_list":       g.onPort((*port).getProfileList),
		"service":                g.onOwned(g.service),
		"set_port_attr":          g.onPort((*port).setPortAttr),
		"set_l2":                 g.onPort((*port).setL2),
		"set_l3":                 g.onPort((*port).setL3),
		"set_vlan":               g.onPort((*port).setVLAN),
		"conf_ipv6":              g.onPort((*port).confIPv6),
		"add_stream":             g.onOwned(g.addStream),
		"remove_all_streams":     g.onOwned((*port).removeAllStreams),
		"remove_rx_filters":      g.onOwned(func(*port, Call) (any, error) { return object{}, nil }),
		"get_all_streams":        g.onPort((*port).getAllStreams),
		"validate":               g.onOwned(g.validate),
		"start_traffic":          g.onOwned(g.startTraffic),
		"update_traffic":         g.onOwned((*port).updateTraffic),
		"stop_traffic":           g.onOwned(g.stopTraffic),
		"pause_traffic":          g.onOwned((*port).pauseTraffic),
		"resume_traffic":         g.onOwned((*port).pauseTraffic),
		"get_port_stats":         g.onPort((*port).getPortStats),
		"get_global_stats":       func(Call) (any, error) { return maps.Clone(g.global), nil },
		"get_utilization":        getUtilization,
		"get_port_xstats_names":  g.onPort((*port).getExtendedNames),
		"get_port_xstats_values": g.onPort((*port).getExtendedValues),
		"get_active_pgids":       g.getActiveFlows,
		"get_pgid_stats":         g.getFlowStats,
		"get_async_events":       g.events.get,
		"get_async_results": func(Call) (any, error) {
			return nil, &wire.Error{Code: wire.CodeNoResult, Message: "No results for request"}
		}, // no call is deferred
		"capture":   g.captures.call,
		"push_pkts": g.onPort(g.pushPackets),
	}
}

// onPort finds the call's port.
func (g *Generator) onPort(method func(*port, Call) (any, error)) AnswerFunc {
	return func(c Call) (any, error) {
		var params struct {
			Port any `json:"port_id"`
		}
		if err := c.Decode(&params); err != nil {
			return nil, err
		}
		switch params.Port.(type) {
		case nil:
			return nil, badParameters("field 'port_id' value is null")
		case string:
			return nil, badParameters("error at offset: 0 - 'port_id' is 'string', expecting 'byte'")
		}
		p, ok := g.ports[c.Port()]
		if !ok {
			var ids []string
			for _, index := range slices.Backward(sortedIndexes(g.ports)) {
				ids = append(ids, string(rune(index))) // TRex writes numbers of bytes as characters
			}
			return nil, refuse("invalid port id - should be: %s", strings.Join(ids, " "))
		}
		return method(p, c)
	}
}

// onOwned also checks that the caller owns it.
func (g *Generator) onOwned(method func(*port, Call) (any, error)) AnswerFunc {
	return g.onPort(func(p *port, c Call) (any, error) {
		var params struct {
			Handler string `json:"handler"`
		}
		if err := c.Decode(&params); err != nil {
			return nil, err
		}
		if p.owner == "" {
			return nil, refuse("please acquire the port before modifying port state")
		}
		if params.Handler != p.handler {
			return nil, refuse("port is not owned by you or your current executing session")
		}
		return method(p, c)
	})
}

func getVersion(Call) (any, error) {
	return object{"version": "v3.08", "mode": "STL", "build_date": "Nov 05 2025", "build_time": "10:00:00",
		"built_by": "nobody"}, nil
}

func (g *Generator) apiSync(c Call) (any, error) {
	var p struct {
		Name         string
		Major, Minor int
	}
	if err := c.Decode(&p); err != nil {
		return nil, err
	}
	const versions = "(API type 'STL':  - server: '5.1', client: '%d.%d')"
	switch {
	case p.Name != "STL":
		return nil, refuse("RPC configuration mismatch - server RPC configuration: 'STL', client RPC "+
			"configuration: '%s'", p.Name)
	case p.Major < 5:
		return nil, refuse("RPC version mismatch: a newer client version is required\n"+versions, p.Major, p.Minor)
	case p.Major > 5 || p.Minor > 1:
		return nil, refuse("Version mismatch: your client version is too new to be supported by the server\n"+versions,
			p.Major, p.Minor)
	}
	return object{"api_h": g.handle}, nil
}

func (g *Generator) getSystemInfo(Call) (any, error) {
	ports, software := []object{}, false
	for _, index := range slices.Backward(sortedIndexes(g.ports)) { // in no particular order, says the protocol
		p := g.ports[index]
		software = software || p.Virtual
		ports = append(ports, object{
			"index": index, "driver": p.Driver, "description": "Unknown", "pci_addr": "N/A", "numa": -1,
			"hw_mac": p.MAC,
			"stack":  "legacy", "is_virtual": p.Virtual, "is_fc_supported": !p.Virtual, "is_prom_supported": true,
			"rx":          object{"caps": []string{"flow_stats", "latency", "rx_bytes", "tpg"}, "counters": 1023},
			"supp_speeds": []int{},
		})
	}
	return object{
		"hostname": "lab", "uptime": "Nov 05 2025 @ 10:00:00", "dp_core_count": 1, "core_type": "Simulated",
		"advanced_per_stream_stats": software, "port_count": len(ports), "ports": ports,
	}, nil
}

func getUtilization(Call) (any, error) {
	return object{"cpu": []object{{"history": slices.Repeat([]int{12, 10}, 10), "ports": []int{0, 1}}},
		"mbuf_stats": object{}}, nil
}

func (g *Generator) crash(input string) error {
	g.crashes = append(g.crashes, input)
	return ErrDie
}

func (g *Generator) pushPackets(p *port, c Call) (any, error) {
	var params struct {
		Packets []struct {
			Binary []byte `json:"binary"`
		} `json:"pkts"`
	}
	if err := c.Decode(&params); err != nil {
		return nil, err
	}
	for _, packet := range params.Packets {
		p.sent++
		p.sentBytes += float64(max(len(packet.Binary), 60) + 4)
		g.device.handle(p, packet.Binary)
	}
	return object{"sent": len(params.Packets), "ts": g.clock()}, nil
}
