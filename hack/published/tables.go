package main

import "fmt"

// pages are the four published loadtests.
func pages() []page {
	return []page{routersPage(), floodPage(), modesPage(), sessionsPage()}
}

// routersPage: PC Engines APU6, IPng Networks, 2021. Both directions summed, bits of layer 1.
func routersPage() page {
	was := map[string][3]string{
		"Linux imix": {"150.21 K", "452.81 M", "45.28"}, "OpenBSD imix": {"145.52 K", "444.51 M", "44.45"}, "VPP imix": {"654.40 K", "2.00 G", "199.90"}, "Danos imix": {"655.53 K", "2.00 G", "200.24"},
		"Linux 64b": {"96.93 K", "65.14 M", "6.51"}, "OpenBSD 64b": {"152.09 K", "102.20 M", "10.22"}, "VPP 64b": {"1.78 M", "1.19 G", "119.49"}, "Danos 64b": {"2.30 M", "1.55 G", "154.62"},
	}
	t := table{title: "Published and ours, all directions together; bps are layer 1, and 200 % is full duplex between two ports:", of: "system, loadtest",
		columns: []column{{head: "published pps", published: []string{}}, {head: "bps", published: []string{}}, {head: "%", published: []string{}}, {head: "our pps", ours: []ref{}}, {head: "bps", ours: []ref{}}, {head: "%", ours: []ref{}}}}
	add := func(label, system, loadtest string, figures [3]string, suite string) {
		t.rows = append(t.rows, label+", "+loadtest)
		for i, as := range []amount{packets, layer1, percent} {
			t.columns[i].published = append(t.columns[i].published, figures[i])
			r := ref{}
			if suite != "" {
				r = ref{suite, system, loadtest, as}
			}
			t.columns[3+i].ours = append(t.columns[3+i].ours, r)
		}
	}
	for _, loadtest := range []string{"imix", "64b"} {
		add("Linux (our router)", "router", loadtest, was["Linux "+loadtest], "routers")
		for _, system := range []string{"OpenBSD", "VPP", "Danos"} {
			add(system, "", loadtest, was[system+" "+loadtest], "")
		}
		for _, system := range []string{"router-million", "filter", "filter-million", "xdp", "xdp-million"} {
			add(system, system, loadtest, [3]string{}, "routers")
		}
		add("testpmd", "testpmd", loadtest, [3]string{}, "routers-testpmd")
	}
	return page{file: "routers.md", suites: "routers.yaml", of: []string{"routers", "routers-testpmd"}, tables: []table{t}}
}

// floodPage: PC Engines APU1C, 2014. One way, smallest frames.
func floodPage() page {
	t := table{title: "Published, as averages over runs of 10, 30 and 60 s; ours is what the receiver's kernel counted, averaged over the runs, with the least and the most, and what the engine counted, as a median with its spread:", of: "device",
		rows:    []string{"generator by itself", "OpenBSD, multiprocessor kernel", "OpenBSD, single-processor kernel", "FreeBSD", "router", "filter"},
		columns: []column{{head: "published", published: []string{"320 kpps", "172 kpps", "184 kpps", "154 kpps", "", ""}}}}
	for _, flood := range []string{"10s", "30s", "60s"} {
		t.columns = append(t.columns,
			column{head: flood + ", kernel", ours: []ref{{}, {}, {}, {}, {"flood", "router", flood, kernel}, {"flood", "filter", flood, kernel}}},
			column{head: flood + ", engine", ours: []ref{{}, {}, {}, {}, {"flood", "router", flood, packets}, {"flood", "filter", flood, packets}}})
	}
	t.columns[2].ours[0] = ref{"flood", "generator", "", packets}
	return page{file: "flood.md", suites: "flood.yaml", of: []string{"flood"}, tables: []table{t}}
}

// modesPage: Supermicro E302-9D as a firewall, 2020. TCP by iperf3, one way.
func modesPage() page {
	modes, links := []string{"router", "filter-1", "filter-100", "nat"}, []string{"a", "b", "both"}
	tcp := table{title: "TCP of four streams by iperf3's protocol, one way, payload. Of the published ones only the router's are set here; ours with both links has each link's in parentheses:", of: "mode", rows: modes}
	for i, was := range []string{"9.40 Gb/s", "9.41 Gb/s", "8.77 and 8.67 Gb/s"} {
		tcp.columns = append(tcp.columns, column{head: "published, " + linkName(links[i]), published: []string{was, "", "", ""}})
	}
	for _, link := range links {
		c := column{head: linkName(link)}
		for _, mode := range modes {
			c.ours = append(c.ours, ref{"modes-tcp", mode, link, goodput})
		}
		tcp.columns = append(tcp.columns, c)
	}
	frames := table{title: "All that the generators can send, one way on each link, packets/s that came back; the first row is the generators by themselves:", of: "mode", rows: append([]string{"generator"}, modes...)}
	for _, size := range []string{"64b", "512b", "1518b"} {
		for _, link := range links {
			c := column{head: size + ", " + linkName(link), ours: []ref{{"modes-frames", "generator", size + "-" + link, packets}}}
			for _, mode := range modes {
				c.ours = append(c.ours, ref{"modes-frames", mode, size + "-" + link, packets})
			}
			frames.columns = append(frames.columns, c)
		}
	}
	sweep := table{title: "The sweep of frame size by load: the highest of its loads of which at most 0.1 % was lost, by the median of the runs. The loss at each is in the heat maps of `linerate report --view heatmap -o html linerate-reports/modes-sweep.suite.json`:", of: "mode", rows: modes}
	for _, size := range []string{"64b", "512b", "1518b"} {
		c := column{head: size}
		for _, mode := range modes {
			c.ours = append(c.ours, ref{"modes-sweep", mode, size, clean})
		}
		sweep.columns = append(sweep.columns, c)
	}
	tunnel := table{title: "Through the tunnel, link A, one way: the highest load that all comes back from, but for half a percent:", of: "mode", rows: []string{"wireguard"}}
	for _, size := range []string{"64b", "512b", "1518b"} {
		tunnel.columns = append(tunnel.columns, column{head: size, ours: []ref{{"modes-tunnel", "wireguard", size, packets}}})
	}
	return page{file: "modes.md", suites: "modes.yaml", of: []string{"modes-tcp", "modes-frames", "modes-sweep", "modes-tunnel"}, tables: []table{tcp, frames, sweep, tunnel}}
}

func linkName(value string) string {
	if value == "both" {
		return "both links"
	}
	return "link " + fmt.Sprintf("%c", value[0]-'a'+'A')
}

// sessionsPage: NanoPi R4S and R2S, 2020. iperf 2, Mb/s.
func sessionsPage() page {
	loads := []string{"tcp", "tcp-64k", "tcp-128k", "tcp-both", "udp", "udp-both"}
	t := table{title: "Payload. Published are Mb/s through the bridge br0 of each board, and to the board itself (WAN); the path without a device was 941 Mb/s. Of both ways at once ours has each in parentheses:", of: "test",
		rows: []string{"1, TCP", "2, TCP, 64 KiB", "3, TCP, 128 KiB", "4, TCP, both ways, 2 streams each", "5, UDP, 1 Gb/s", "6, UDP, 1 Gb/s, both ways"},
		columns: []column{{head: "R4S br0", published: []string{"940", "680", "758", "941", "957", "561"}}, {head: "R2S br0", published: []string{"681", "360", "360", "647", "460", "64"}},
			{head: "R4S WAN", published: []string{"942", "941", "941", "922", "957", "926"}}, {head: "R2S WAN", published: []string{"941", "937", "938", "701", "577", "576"}}}}
	vital := table{title: "How many processors were busy meanwhile, ends and device together, on one machine:", of: "test", rows: t.rows}
	for _, program := range []struct{ name, suite string }{{"iperf3", "boards"}, {"iperf 2", "boards-iperf2"}} {
		for _, device := range []string{"path", "nat", "bridge", "end"} {
			c, v := column{head: program.name + ", " + device}, column{head: program.name + ", " + device}
			for _, load := range loads {
				c.ours, v.ours = append(c.ours, ref{program.suite, device, load, goodput}), append(v.ours, ref{program.suite, device, load, busy})
			}
			t.columns, vital.columns = append(t.columns, c), append(vital.columns, v)
		}
	}
	return page{file: "sessions.md", suites: "sessions.yaml", of: []string{"boards", "boards-iperf2"}, tables: []table{t, vital}}
}
