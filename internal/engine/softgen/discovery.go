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

// apiSyncV2 answers api_sync_v2, the handshake. The name and the major version must be the server's, and the minor version must not be above the server's.
func (s *Server) apiSyncV2(p *params) (any, error) {
	name, major, minor := p.text("name"), p.integer("major"), p.integer("minor")
	if err := p.failed(); err != nil {
		return nil, err
	}
	if name != apiName {
		return nil, refused("RPC configuration mismatch - server RPC configuration: '%s', client RPC configuration: '%s'", apiName, name)
	}
	if err := checkVersion(apiName, major, minor); err != nil {
		return nil, err
	}
	return object{"api_h": s.apiH}, nil
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
	return refused("%s\n(API type '%s':  - server: '%d.%d', client: '%d.%d')", refusal, kind, apiMajor, apiMinor, major, minor)
}

// apiSync answers api_sync, the handshake of older clients.
func (s *Server) apiSync(p *params) (any, error) {
	answers := []object{}
	for _, text := range p.list("api_vers") {
		api, err := readObject(text)
		if err != nil {
			return nil, badParameters("'api_vers' must hold objects")
		}
		kind, major, minor := api.text("type"), api.integer("major"), api.integer("minor")
		if err := api.failed(); err != nil {
			return nil, err
		}
		if err := checkVersion(kind, major, minor); err != nil {
			return nil, err
		}
		answers = append(answers, object{"type": kind, "api_h": s.apiH})
	}
	return object{"api_vers": answers}, p.failed()
}

// version answers get_version. Version and mode are those of the TRex whose
// RPC this is. engine, engine_version and product name the software engine.
func (s *Server) getVersion(*params) (any, error) {
	return object{
		"version": trexVersion, "mode": apiName, "built_by": product,
		"build_date": s.cfg.Started.Format("Jan 02 2006"), "build_time": s.cfg.Started.Format("15:04:05"),
		"engine": product, "engine_version": s.cfg.Version, "product": strings.TrimSpace(product + " " + s.cfg.Version),
	}, nil
}

// ping answers ping with the clock of start_traffic's start_at_ts.
func (s *Server) ping(*params) (any, error) { return object{"ts": s.seconds()}, nil }

func (s *Server) seconds() real { return real(s.cfg.Now().Seconds()) }

// systemInfo answers get_system_info. processors, kernel and hypervisor, which TRex doesn't have, describe the server's machine.
func (s *Server) getSystemInfo(*params) (any, error) {
	ports, cores := []object{}, 0
	for _, port := range s.ports {
		ports = append(ports, port.describe(cores))
		cores += port.cores
	}
	return object{
		"advanced_per_stream_stats": true, "core_type": s.cfg.Machine.CPUModel, "dp_core_count": cores,
		"dp_core_count_per_port": s.ports[0].cores, "hostname": s.cfg.Hostname, "is_multiqueue_mode": false,
		"port_count": len(s.ports), "ports": ports, "uptime": s.cfg.Started.Format("Jan 02 2006 @ 15:04:05"),
		"processors": s.cfg.Machine.Processors, "kernel": s.cfg.Machine.Kernel, "hypervisor": s.cfg.Machine.Hypervisor, "tuning": s.cfg.Machine.Tuning, "allowed": s.cfg.Machine.Allowed,
	}, nil
}

// describe returns a port's entry. A port whose interface has no speed of its own is virtual. TRex doesn't have path (how frames
// are sent and received), nic, firmware, receive_drops and pause_frames (whether the port counts these), stamps ("followed",
// or the reason why stamps can't time frames) and receive_queues (the number of receive queues, or 0 if it is unknown).
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
		"index": port.index, "driver": info.Driver, "description": info.Interface, "path": info.Path, "nic": info.NIC, "firmware": info.Firmware, "receive_drops": info.ReceiveDrops, "pause_frames": info.PauseFrames, "stamps": stamps, "receive_queues": info.ReceiveQueues, "pci_addr": "N/A", "numa": -1,
		"hw_mac": macText(info.MAC), "stack": "legacy", "cores": cores, "supp_speeds": []int{}, "is_virtual": info.Speed == 0,
		"is_fc_supported": false, "is_led_supported": false, "is_link_supported": false, "is_prom_supported": true,
		"is_vxlan_supported": false, "is_ieee1588_supported": false,
		"rx": object{"caps": []string{"flow_stats", "latency", "rx_bytes"}, "counters": maxFlows},
	}
}

// utilization answers get_utilization with the present load of each port's sending threads. There are no packet buffers to count.
func (s *Server) getUtilization(*params) (any, error) {
	cpus := []object{}
	for _, port := range s.ports {
		cpus = append(cpus, object{"history": []int{int(port.path.Counters().CPUPercent)}, "ports": []int{port.index, -1}})
	}
	return object{"cpu": cpus, "mbuf_stats": object{}}, nil
}

// tpgStatus answers get_tpg_status, which clients ask. Tagged packet groups are never enabled here.
func (s *Server) getTPGStatus(*params) (any, error) {
	idle := object{"acquired_ports": []int{}, "num_tags": 0, "num_tpgids": 0, "rx_ports": []int{}, "username": "-"}
	return object{"data": idle, "enabled": false}, nil
}

// publishNow answers publish_now. It publishes nothing, because clients read events with get_async_events.
func (s *Server) publishNow(*params) (any, error) { return object{}, nil }

// shutdown answers shutdown, if the configuration allows it.
func (s *Server) shutdown(p *params) (any, error) {
	user, force := p.text("user"), p.flag("force")
	if err := p.failed(); err != nil {
		return nil, err
	}
	if !s.cfg.AllowShutdown {
		return nil, refused("shutdown by RPC is not enabled on this server: end its process instead")
	}
	for _, port := range s.ports {
		if port.owner.handler != "" && !force {
			return nil, refused("port %d is owned by '%s' - specify 'force' for override", port.index, port.owner.user)
		}
	}
	s.cfg.Log.Info("shut down by a client", "user", user)
	s.end()
	return object{}, nil
}
