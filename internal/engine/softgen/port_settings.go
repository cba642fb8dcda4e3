package softgen

// portSettings read and change the attributes and addresses of ports.
type portSettings struct {
	flows    *flows
	captures *captures
}

// status answers get_port_status. state_profile comes only if profile_id is given.
func (s *portSettings) status(port *port, p *params) (any, error) {
	highestID := uint32(0)
	for _, f := range port.profiles {
		for id := range f.streams {
			highestID = max(highestID, id)
		}
	}
	status := object{
		"owner": port.owner.user, "state": port.state(), "service": port.service,
		"service_filtered": port.serviceFiltered,
		"profile_count":    len(port.profiles), "max_stream_id": highestID, "attr": port.attributes(),
		"rx_info": s.receiveInfo(port),
	}
	if p.has("profile_id") {
		states, err := port.perProfile(p, func(f *profile) any { return f.state() })
		if err != nil {
			return nil, err
		}
		status["state_profile"] = states
	}
	return status, nil
}

// attributes are set by set_port_attr, set_l2, set_l3, set_vlan and conf_ipv6, or are the interface's own properties.
// The speed is in Gb/s. link.flaps, which TRex doesn't have, is how often the link has changed.
func (port *port) attributes() object {
	info := port.path.Info()
	filter := "hw"
	if port.service {
		filter = "all"
	}
	return object{
		"speed": real(float64(port.speed) / 1e9), "link": object{"up": info.LinkUp, "flaps": info.LinkFlaps},
		"promiscuous": object{"enabled": port.promiscuous}, "multicast": object{"enabled": port.multicast},
		"fc": object{"mode": -1}, "rx_filter_mode": filter, "vxlan_fs": []int{},
		"vlan": object{"tags": orEmpty(port.addressing.vlans)}, "layer_cfg": port.addressing.report(info.MAC),
	}
}

func (s *portSettings) receiveInfo(port *port) object {
	inactive := object{"is_active": false}
	announcing := object{"is_active": false}
	if port.addressing.layer3 && port.addressing.resolved {
		announcing = object{"is_active": true, "interval_sec": 120}
	}
	return object{
		"capture_port": inactive, "capwap_proxy": inactive, "queue": inactive, "stack": object{"is_active": true},
		"grat_arp": announcing, "latency": object{"is_active": s.flows.anyLatency()},
	}
}

// setAttributes answers set_port_attr. Like TRex, it needs no ownership. Attributes that a kernel interface
// can't change are refused in TRex's words.
func (s *portSettings) setAttributes(port *port, p *params) (any, error) {
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
		enabled := attributes.object("promiscuous").boolean("enabled")
		if err := p.failed(); err != nil {
			return nil, err
		}
		if err := port.path.SetPromiscuous(enabled); err != nil {
			return nil, refused("Error applying promiscuous: %v", err)
		}
		port.promiscuous = enabled
	}
	if attributes.has("multicast") {
		port.multicast = attributes.object("multicast").boolean("enabled") // multicast is always received
	}
	return object{}, p.failed()
}

// setService answers service. It turns captures on the port on or off. It can't be turned off while a capture runs.
func (s *portSettings) setService(port *port, p *params) (any, error) {
	enabled, filtered := p.boolean("enabled"), p.flag("filtered")
	if err := p.failed(); err != nil {
		return nil, err
	}
	if !enabled && s.captures.activeOn(port) {
		return nil, refused("unable to disable service mode - an active capture on port %d exists", port.index)
	}
	port.service, port.serviceFiltered = enabled, filtered
	return object{}, nil
}

// setReceiveFeature answers set_rx_feature. Features can only be turned off, because there are none.
func (s *portSettings) setReceiveFeature(_ *port, p *params) (any, error) {
	feature, enabled := p.text("type"), p.boolean("enabled")
	if err := p.failed(); err != nil {
		return nil, err
	}
	if enabled {
		return nil, refused("receive feature '%s' is not supported by the software engine: use capture", feature)
	}
	return object{}, nil
}
