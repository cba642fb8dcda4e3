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
	run func(*params) (any, error)
	// open methods work without the handshake of api_sync_v2.
	open bool
}

// newCommands returns the methods that the server knows, by their names in TRex's RPC.
func (s *Server) newCommands() map[string]command {
	table := map[string]command{
		"api_sync": {s.info.apiSync, true}, "api_sync_v2": {s.info.apiSyncV2, true},
		"get_version": {s.info.version, true}, "ping": {s.info.ping, true},
	}
	for name, run := range map[string]func(*params) (any, error){
		"get_supported_cmds": s.supported, "get_system_info": s.info.systemInfo,
		"get_utilization": s.statistics.utilization, "get_tpg_status": s.info.tpgStatus,
		"publish_now": s.info.publishNow, "shutdown": s.shutdown,

		"acquire": s.ownership.acquire, "release": s.ownership.release, "get_owner": s.ownership.ownerOf,
		"get_async_events": s.events.answerPoll,

		"get_port_status": s.settings.status, "set_port_attr": s.settings.setAttributes,
		"service": s.settings.setService, "set_rx_feature": s.settings.setReceiveFeature,
		"set_l2": s.settings.setLayer2, "set_l3": s.settings.setLayer3,
		"conf_ipv6": s.settings.configureIPv6, "set_vlan": s.settings.setVLAN,

		"get_profile_list": s.loader.profileList, "get_stream_list": s.loader.idList,
		"get_stream": s.loader.get, "get_all_streams": s.loader.getAll,
		"add_stream": s.loader.add, "remove_stream": s.loader.remove, "remove_all_streams": s.loader.removeAll,
		"validate": s.loader.validate, "remove_rx_filters": s.loader.removeReceiveFilters,

		"start_traffic": s.traffic.start, "update_traffic": s.traffic.update, "pause_traffic": s.traffic.pause,
		"resume_traffic": s.traffic.resume, "stop_traffic": s.traffic.stop, "push_pkts": s.traffic.push,
		"capture": s.captures.command,

		"get_port_stats": s.statistics.portStats, "get_global_stats": s.statistics.globalStats,
		"get_port_xstats_names": s.statistics.extendedNames, "get_port_xstats_values": s.statistics.extendedValues,
		"get_active_pgids": s.flowStatistics.activeFlows, "get_pgid_stats": s.flowStatistics.flowStats,
	} {
		table[name] = command{run: run}
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
		s.statistics.ahead = nil // another command may change the counters
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
