package softgen

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
)

// object is a JSON object with a few fixed members. The encoder sorts them, as TRex's writer does.
type object = map[string]any

// command carries out one method.
type command struct {
	run handler
	// open methods work without the handshake of api_sync_v2.
	open bool
}

// handler carries out a command of the server, portHandler one of the port that port_id names, and profileHandler
// one of the profile that profile_id names on that port.
type (
	handler        func(*params) (any, error)
	portHandler    func(*port, *params) (any, error)
	profileHandler func(*port, *profile, *params) (any, error)
)

// newCommands returns the methods that the server knows, by their names in TRex's RPC.
func (s *Server) newCommands() map[string]command {
	table := map[string]command{
		"api_sync": {s.info.apiSync, true}, "api_sync_v2": {s.info.apiSyncV2, true},
		"get_version": {s.info.version, true}, "ping": {s.info.ping, true},
	}
	for name, run := range map[string]handler{
		"get_supported_cmds": s.supported, "get_system_info": s.info.systemInfo,
		"get_utilization": s.statistics.utilization, "get_tpg_status": s.info.tpgStatus,
		"publish_now": s.info.publishNow, "shutdown": s.shutdown,
		"get_async_events": s.events.answerPoll, "capture": s.captures.command,
		"get_global_stats": s.statistics.globalStats,
		"get_active_pgids": s.flowStatistics.activeFlows, "get_pgid_stats": s.flowStatistics.flowStats,
	} {
		table[name] = command{run: run}
	}
	for name, run := range map[string]portHandler{
		"acquire": s.ownership.acquire, "get_owner": s.ownership.ownerOf,
		"get_port_status": s.settings.status, "set_port_attr": s.settings.setAttributes,
		"set_rx_feature": s.settings.setReceiveFeature, "set_l2": s.settings.setLayer2,
		"set_l3": s.settings.setLayer3, "conf_ipv6": s.settings.configureIPv6, "set_vlan": s.settings.setVLAN,
		"get_profile_list": s.loader.profileList, "get_stream_list": s.loader.idList,
		"get_stream": s.loader.get, "get_all_streams": s.loader.getAll,
		"push_pkts": s.traffic.push, "get_port_stats": s.statistics.portStats,
		"get_port_xstats_names": s.statistics.extendedNames, "get_port_xstats_values": s.statistics.extendedValues,
	} {
		table[name] = command{run: s.ports.onPort(run)}
	}
	for name, run := range map[string]portHandler{
		"release": s.ownership.release, "service": s.settings.setService,
		"add_stream": s.loader.add, "remove_all_streams": s.loader.removeAll, "stop_traffic": s.traffic.stop,
		"send_trains": s.trains.send, "get_trains": s.trains.get, "remove_trains": s.trains.remove,
	} {
		table[name] = command{run: s.ports.onOwnedPort(run)}
	}
	for name, run := range map[string]profileHandler{
		"remove_stream": s.loader.remove, "validate": s.loader.validate,
		"remove_rx_filters": s.loader.removeReceiveFilters,
		"start_traffic":     s.traffic.start, "update_traffic": s.traffic.update,
		"pause_traffic": s.traffic.pause, "resume_traffic": s.traffic.resume,
	} {
		table[name] = command{run: s.ports.onOwnedProfile(run)}
	}
	return table
}

// call finds the method, checks the handshake and runs it.
func (s *Server) call(method string, parameters json.RawMessage) (any, error) {
	found, ok := s.commands[method]
	if !ok {
		return nil, &wire.Error{Code: wire.CodeUnknownMethod, Message: "Method " + method + " not registered"}
	}
	if kindOf(parameters) != "object" {
		return nil, refused("JSON-RPC2 params should be object in TRex case ")
	}
	p, err := readObject(parameters)
	if err != nil {
		return nil, refusedBy(err)
	}
	if !found.open {
		if err := s.checkHandshake(p); err != nil {
			return nil, err
		}
		s.beat()
	}
	if method != "get_port_stats" {
		s.statistics.unreadCounters = nil // another command may change the counters
	}
	return found.run(p)
}

func (s *Server) checkHandshake(p *params) error {
	handle := p.text("api_h")
	if err := p.failed(); err != nil {
		return err
	}
	if handle != s.apiH {
		return refused("API verification failed - API handler provided mismatch for class: 'STL'")
	}
	return nil
}

// supported answers get_supported_cmds.
func (s *Server) supported(*params) (any, error) {
	return slices.Sorted(maps.Keys(s.commands)), nil
}
