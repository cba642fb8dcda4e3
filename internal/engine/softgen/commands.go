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
	run func(*Server, *params) (any, error)
	// open methods work without the handshake of api_sync_v2.
	open bool
}

// newCommands returns the methods that the server knows, by their names in TRex's RPC.
func commands() map[string]command {
	table := map[string]command{
		"api_sync": {(*Server).apiSync, true}, "api_sync_v2": {(*Server).apiSyncV2, true},
		"get_version": {(*Server).getVersion, true}, "ping": {(*Server).ping, true},
	}
	for name, run := range map[string]func(*Server, *params) (any, error){
		"get_supported_cmds": (*Server).getSupportedCommands, "get_system_info": (*Server).getSystemInfo,
		"get_utilization": (*Server).getUtilization, "get_tpg_status": (*Server).getTPGStatus,
		"publish_now": (*Server).publishNow, "shutdown": (*Server).shutdown,

		"acquire": (*Server).acquire, "release": (*Server).release, "get_owner": (*Server).getOwner,
		"get_async_events": (*Server).getAsyncEvents,

		"get_port_status": (*Server).getPortStatus, "set_port_attr": (*Server).setPortAttributes,
		"service": (*Server).setService, "set_rx_feature": (*Server).setReceiveFeature,
		"set_l2": (*Server).setLayer2, "set_l3": (*Server).setLayer3,
		"conf_ipv6": (*Server).configureIPv6, "set_vlan": (*Server).setVLAN,

		"get_profile_list": (*Server).getProfileList, "get_stream_list": (*Server).getStreamList,
		"get_stream": (*Server).getStream, "get_all_streams": (*Server).getAllStreams,
		"add_stream": (*Server).addStream, "remove_stream": (*Server).removeStream,
		"remove_all_streams": (*Server).removeAllStreams,

		"validate": (*Server).validate, "start_traffic": (*Server).startTraffic,
		"update_traffic": (*Server).updateTraffic, "pause_traffic": (*Server).pauseTraffic,
		"resume_traffic": (*Server).resumeTraffic, "stop_traffic": (*Server).stopTraffic,
		"remove_rx_filters": (*Server).removeReceiveFilters,

		"push_pkts": (*Server).pushPackets, "capture": (*Server).capture,

		"get_port_stats": (*Server).getPortStats, "get_global_stats": (*Server).getGlobalStats,
		"get_port_xstats_names": (*Server).getExtendedNames, "get_port_xstats_values": (*Server).getExtendedValues,
		"get_active_pgids": (*Server).getActiveFlows, "get_pgid_stats": (*Server).getFlowStats,
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
		s.ahead = nil // another command may change the counters
	}
	return found.run(s, p)
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
func (s *Server) getSupportedCommands(*params) (any, error) {
	return slices.Sorted(maps.Keys(s.commands)), nil
}
