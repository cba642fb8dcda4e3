package softgen

// getPortStatus is get_port_status. state_profile comes only where profile_id is given.
func (s *Server) getPortStatus(p *params) (any, error) {
	at, err := s.port(p)
	if err != nil {
		return nil, err
	}
	most := uint32(0)
	for _, f := range at.profiles {
		for id := range f.streams {
			most = max(most, id)
		}
	}
	status := object{
		"owner": at.owner.user, "state": at.state(), "service": at.service, "service_filtered": at.serviceFiltered,
		"profile_count": len(at.profiles), "max_stream_id": most, "attr": at.attributes(), "rx_info": s.receiveInfo(at),
	}
	if p.has("profile_id") {
		profiles, err := at.profilesNamed(p)
		if err != nil {
			return nil, err
		}
		states := object{}
		for _, f := range profiles {
			states[f.id] = f.state()
		}
		status["state_profile"] = states
	}
	return status, nil
}

// attributes are what set_port_attr, set_l2, set_l3, set_vlan and conf_ipv6 set, and the interface's own properties. The speed is
// in Gb/s. link.flaps, which TRex doesn't have, is how often the link has changed.
func (at *port) attributes() object {
	info := at.path.Info()
	filter := "hw"
	if at.service {
		filter = "all"
	}
	return object{
		"speed": real(float64(at.speed) / 1e9), "link": object{"up": info.LinkUp, "flaps": info.LinkFlaps},
		"promiscuous": object{"enabled": at.promiscuous}, "multicast": object{"enabled": at.multicast},
		"fc": object{"mode": -1}, "rx_filter_mode": filter, "vxlan_fs": []int{},
		"vlan": object{"tags": orEmpty(at.layer.vlans)}, "layer_cfg": at.layer.report(info.MAC),
	}
}

func (s *Server) receiveInfo(at *port) object {
	inactive := object{"is_active": false}
	announcing := object{"is_active": false}
	if at.layer.layer3 && at.layer.resolved {
		announcing = object{"is_active": true, "interval_sec": 120}
	}
	return object{
		"capture_port": inactive, "capwap_proxy": inactive, "queue": inactive, "stack": object{"is_active": true},
		"grat_arp": announcing, "latency": object{"is_active": s.flows.anyLatency()},
	}
}

// setPortAttributes is set_port_attr. Like TRex, it needs no ownership. What a kernel interface can't do is refused in TRex's words.
func (s *Server) setPortAttributes(p *params) (any, error) {
	at, err := s.port(p)
	if err != nil {
		return nil, err
	}
	attributes := p.object("attr")
	if err := p.failed(); err != nil {
		return nil, err
	}
	for name := range attributes.members {
		switch name {
		case "promiscuous", "multicast":
		case "link_status", "led_status", "flow_ctrl_mode", "vxlan_fs":
			return nil, refused("Error applying %s: operation is not supported for this NIC.", name)
		default:
			return nil, refused("unknown port attribute '%s'", name)
		}
	}
	if attributes.has("promiscuous") {
		on := attributes.object("promiscuous").boolean("enabled")
		if err := p.failed(); err != nil {
			return nil, err
		}
		if err := at.path.SetPromiscuous(on); err != nil {
			return nil, refused("Error applying promiscuous: %v", err)
		}
		at.promiscuous = on
	}
	if attributes.has("multicast") {
		at.multicast = attributes.object("multicast").boolean("enabled") // multicast is always received
	}
	return object{}, p.failed()
}

// setService is service: it turns captures on the port on or off. It can't be turned off while a capture runs.
func (s *Server) setService(p *params) (any, error) {
	at, err := s.ownedPort(p)
	if err != nil {
		return nil, err
	}
	on, filtered := p.boolean("enabled"), p.flag("filtered")
	if err := p.failed(); err != nil {
		return nil, err
	}
	if !on && s.captures.activeOn(at) {
		return nil, refused("unable to disable service mode - an active capture on port %d exists", at.index)
	}
	at.service, at.serviceFiltered = on, filtered
	return object{}, nil
}

// setReceiveFeature is set_rx_feature: features can only be turned off, as there are none.
func (s *Server) setReceiveFeature(p *params) (any, error) {
	_, err := s.port(p)
	if err != nil {
		return nil, err
	}
	feature, on := p.text("type"), p.boolean("enabled")
	if err := p.failed(); err != nil {
		return nil, err
	}
	if on {
		return nil, refused("receive feature '%s' is not supported by the software engine: use capture", feature)
	}
	return object{}, nil
}
