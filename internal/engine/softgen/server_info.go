package softgen

import "strings"

// api_sync_v2 negotiates this API, which is that of this TRex.
const (
	apiName     = "STL"
	apiMajor    = 5
	apiMinor    = 1
	trexVersion = "v3.08"
	product     = "linerate software engine"
)

// serverInfo describes the server and its machine to clients.
type serverInfo struct {
	cfg    Config
	handle string // api_h
	clock  clock
	ports  ports
}

// apiSyncV2 answers api_sync_v2, the handshake. The name and the major version must be the server's, and the
// minor version must not be above the server's.
func (i *serverInfo) apiSyncV2(p *params) (any, error) {
	name, major, minor := p.text("name"), p.integer("major"), p.integer("minor")
	if err := p.failed(); err != nil {
		return nil, err
	}
	if name != apiName {
		return nil, refused("RPC configuration mismatch - server RPC configuration: '%s', client RPC "+
			"configuration: '%s'", apiName, name)
	}
	if err := checkVersion(apiName, major, minor); err != nil {
		return nil, err
	}
	return object{"api_h": i.handle}, nil
}

func checkVersion(kind string, major, minor int64) error {
	refusal := "RPC version mismatch: a newer client version is required"
	switch {
	case major < apiMajor:
	case major > apiMajor || minor > apiMinor:
		refusal = "Version mismatch: your client version is too new to be supported by the server"
	default:
		return nil
	}
	return refused("%s\n(API type '%s':  - server: '%d.%d', client: '%d.%d')", refusal, kind, apiMajor, apiMinor, major,
		minor)
}

// apiSync answers api_sync, the handshake of older clients.
func (i *serverInfo) apiSync(p *params) (any, error) {
	answers := []object{}
	for _, api := range p.objects("api_vers") {
		kind, major, minor := api.text("type"), api.integer("major"), api.integer("minor")
		if err := api.failed(); err != nil {
			return nil, err
		}
		if err := checkVersion(kind, major, minor); err != nil {
			return nil, err
		}
		answers = append(answers, object{"type": kind, "api_h": i.handle})
	}
	return object{"api_vers": answers}, p.failed()
}

// version answers get_version. Version and mode are those of the TRex whose
// RPC this is. engine, engine_version and product name the software engine.
func (i *serverInfo) version(*params) (any, error) {
	return object{
		"version": trexVersion, "mode": apiName, "built_by": product,
		"build_date": i.cfg.Started.Format("Jan 02 2006"), "build_time": i.cfg.Started.Format("15:04:05"),
		"engine": product, "engine_version": i.cfg.Version, "product": strings.TrimSpace(product + " " + i.cfg.Version),
	}, nil
}

// ping answers ping with the clock of start_traffic's start_at_ts.
func (i *serverInfo) ping(*params) (any, error) { return object{"ts": i.clock.seconds()}, nil }

// systemInfo answers get_system_info. processors, kernel and hypervisor, which TRex doesn't have, describe the
// server's machine.
func (i *serverInfo) systemInfo(*params) (any, error) {
	ports, cores := []object{}, 0
	for _, port := range i.ports {
		ports = append(ports, port.describe(cores))
		cores += port.cores
	}
	return object{
		"advanced_per_stream_stats": true, "core_type": i.cfg.Machine.CPUModel, "dp_core_count": cores,
		"dp_core_count_per_port": i.ports[0].cores, "hostname": i.cfg.Hostname, "is_multiqueue_mode": false,
		"port_count": len(i.ports), "ports": ports, "uptime": i.cfg.Started.Format("Jan 02 2006 @ 15:04:05"),
		"processors": i.cfg.Machine.Processors, "kernel": i.cfg.Machine.Kernel, "hypervisor": i.cfg.Machine.Hypervisor,
		"tuning": i.cfg.Machine.Tuning, "allowed": i.cfg.Machine.Allowed,
	}, nil
}

// describe returns a port's entry. A port whose interface has no speed of its own is virtual. TRex doesn't have
// path (how frames are sent and received), nic, firmware, receive_drops and pause_frames (whether the port
// counts these), stamps ("followed", or the reason why stamps can't time frames), trains ("timed", as this server's
// ports send trains and time their frames), receive_queues and ring (how many receive queues it has, and how many
// frames the ring holds that its frames arrive at, or 0 if that is unknown) and cautions (what may keep frames from
// the port).
func (port *port) describe(firstCore int) object {
	info := port.path.Info()
	stamps := info.Untimed
	if stamps == "" {
		stamps = "followed"
	}
	cores := make([]int, port.cores)
	for i := range cores {
		cores[i] = firstCore + i
	}
	return object{
		"index": port.index, "driver": info.Driver, "description": info.Interface, "path": info.Path, "nic": info.NIC,
		"firmware": info.Firmware, "receive_drops": info.ReceiveDrops, "pause_frames": info.PauseFrames,
		"stamps": stamps, "trains": "timed", "receive_queues": info.ReceiveQueues, "ring": info.Ring,
		"cautions": info.Cautions,
		"pci_addr": "N/A", "numa": -1,
		"hw_mac": macText(info.MAC), "stack": "legacy", "cores": cores, "supp_speeds": []int{},
		"is_virtual":      info.Speed == 0,
		"is_fc_supported": false, "is_led_supported": false, "is_link_supported": false, "is_prom_supported": true,
		"is_vxlan_supported": false, "is_ieee1588_supported": false,
		"rx": object{"caps": []string{"flow_stats", "latency", "rx_bytes"}, "counters": maxFlows},
	}
}

// tpgStatus answers get_tpg_status, which clients ask. Tagged packet groups are never enabled here.
func (i *serverInfo) tpgStatus(*params) (any, error) {
	idle := object{"acquired_ports": []int{}, "num_tags": 0, "num_tpgids": 0, "rx_ports": []int{}, "username": "-"}
	return object{"data": idle, "enabled": false}, nil
}

// publishNow answers publish_now. It publishes nothing, because clients read events with get_async_events.
func (i *serverInfo) publishNow(*params) (any, error) { return object{}, nil }
