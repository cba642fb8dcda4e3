package forwarder

// quieten keeps the namespace from speaking unasked and from dropping what looks odd in a lab only.
//
// New interfaces take IPv6's "default" settings, so these come first. The settings of "all" count together with the interface's own
// (kernel: Documentation/networking/ip-sysctl.rst), so a host that inherited rp_filter=1 to the namespace is undone here.
func quieten(_ Spec, info *Info) error {
	for _, s := range [][2]string{
		{"ipv4/conf/all/rp_filter", "0"},
		{"ipv4/conf/default/rp_filter", "0"},
		{"ipv4/conf/all/send_redirects", "0"},
		{"ipv4/conf/default/send_redirects", "0"},
		{"ipv6/conf/default/accept_ra", "0"},
		{"ipv6/conf/default/autoconf", "0"},
		{"ipv6/conf/default/dad_transmits", "0"},
		{"ipv6/conf/default/router_solicitations", "0"},
		// Every address and route of a lab of 8 links fits the default tables; only the bridge must not call iptables per frame.
		{"bridge/bridge-nf-call-iptables", "0"},
		{"bridge/bridge-nf-call-ip6tables", "0"},
		{"bridge/bridge-nf-call-arptables", "0"},
	} {
		tune(info, s[0], s[1])
	}
	return nil
}
