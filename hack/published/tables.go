package main

import "strings"

// routersPage: PC Engines APU6, IPng Networks, 2021. Both directions summed, bits of layer 1.
func routersPage() page {
	t := table{title: "All directions together; bps are layer 1, and 200 % is full duplex between two ports:",
		labels: "system, loadtest"}
	columns := []column{{head: "pps"}, {head: "bps"}, {head: "%"}}
	for _, loadtest := range []string{"imix", "64b"} {
		for _, system := range []string{"router", "router-million", "filter", "filter-million", "xdp", "xdp-million",
			"testpmd"} {
			suite := "routers"
			if system == "testpmd" {
				suite = "routers-testpmd"
			}
			t.rows = append(t.rows, system+", "+loadtest)
			for i, unit := range []string{"packets", "layer1", "percent"} {
				columns[i].ours = append(columns[i].ours, ref{suite, cellName(system, loadtest), unit})
			}
		}
	}
	t.columns = columns
	return page{file: "routers.md", suites: "routers.yaml", labels: []string{"routers", "routers-testpmd"},
		tables: []table{t}}
}

// floodPage: PC Engines APU1C, 2014. One way, smallest frames.
func floodPage() page {
	t := table{title: "What the receiver's kernel counted, averaged over the runs, with the least and the most; and what the engine counted, as a median with its spread:", labels: "device", rows: []string{"generator", "router", "filter"}}
	for _, flood := range []string{"10s", "30s", "60s"} {
		kernel, engine := column{head: flood + ", kernel", ours: []ref{{}}}, column{head: flood + ", engine",
			ours: []ref{{}}}
		if flood == "10s" {
			engine.ours[0] = ref{"flood", "generator", "packets"}
		}
		for _, device := range t.rows[1:] {
			kernel.ours, engine.ours = append(kernel.ours, ref{"flood", cellName(device, flood), "kernel"}),
				append(engine.ours, ref{"flood", cellName(device, flood), "packets"})
		}
		t.columns = append(t.columns, kernel, engine)
	}
	return page{file: "flood.md", suites: "flood.yaml", labels: []string{"flood"}, tables: []table{t}}
}

// modesPage: Supermicro E302-9D as a firewall, 2020.
func modesPage() page {
	modes, links, sizes := []string{"router", "filter-1", "filter-100", "nat"}, []string{"a", "b", "both"},
		[]string{"64b", "512b", "1518b"}
	cellsOf := func(head, suite, loadtest, unit string, rows []string) column {
		c := column{head: head}
		for _, mode := range rows {
			c.ours = append(c.ours, ref{suite, cellName(mode, loadtest), unit})
		}
		return c
	}
	tcp := table{title: "TCP of four streams by iperf3's protocol, one way, payload; of both links also each one's, in parentheses:", labels: "mode", rows: modes}
	for _, link := range links {
		tcp.columns = append(tcp.columns, cellsOf(linkName(link), "modes-tcp", link, "goodput", modes))
	}
	frames := table{title: "All that the generators can send, one way on each link, packets/s that came back; the first row is the generators by themselves:", labels: "mode", rows: append([]string{"generator"}, modes...)}
	for _, size := range sizes {
		for _, link := range links {
			frames.columns = append(frames.columns, cellsOf(size+", "+linkName(link), "modes-frames", size+"-"+link,
				"packets", frames.rows))
		}
	}
	sweep := table{title: "The sweep of frame size by load: the highest of its loads of which at most " +
		sweepMayLose.Percent().String() + " % was lost, by the median of the runs; in parentheses the least and the most of a run by itself, where runs differ. The loss at each is in the heat maps of `linerate report --view heatmap -o html` of the suite's document:", labels: "mode", rows: modes}
	for _, size := range sizes {
		sweep.columns = append(sweep.columns, cellsOf(size, "modes-sweep", size, "clean", modes))
	}
	tunnel := table{title: "Through the tunnel, link A, one way: the highest load that all comes back from, but for half a percent:", labels: "mode", rows: []string{"wireguard"}}
	for _, size := range []string{"64b", "512b", "1418b"} {
		tunnel.columns = append(tunnel.columns, cellsOf(size, "modes-tunnel", size, "packets", tunnel.rows))
	}
	ipsec := table{title: "Through IPsec, in the same way, by cipher:", labels: "cipher", rows: []string{"aes-128-gcm",
		"aes-256-gcm", "aes-256-cbc", "chacha20"}}
	for _, size := range []string{"64b", "1418b"} {
		ipsec.columns = append(ipsec.columns, cellsOf(size, "modes-ipsec", size, "packets", ipsec.rows))
	}
	power := table{title: "Idle, then TCP on all links in both ways, then idle: payload, how many processors were busy, and what the hottest sensor had; in parentheses the runs' least and most:", labels: "mode", rows: []string{"router"}}
	for _, shown := range []struct{ head, unit string }{{"payload", "goodput"}, {"processors", "busyAround"},
		{"temperature", "heatAround"}} {
		power.columns = append(power.columns, cellsOf(shown.head, "modes-power", "", shown.unit, power.rows))
	}
	return page{file: "modes.md", suites: "modes.yaml", labels: []string{"modes-tcp", "modes-frames", "modes-sweep",
		"modes-tunnel", "modes-ipsec", "modes-power"}, tables: []table{tcp, frames, sweep, tunnel, ipsec, power}}
}

func linkName(value string) string {
	if value == "both" {
		return "both links"
	}
	return "link " + strings.ToUpper(value)
}

// sessionsPage: NanoPi R4S and R2S, 2020.
func sessionsPage() page {
	loads := []string{"tcp", "tcp-64k", "tcp-128k", "tcp-both", "udp", "udp-both"}
	t := table{title: "Payload; of both ways at once also each one's, in parentheses:", labels: "test",
		rows: []string{"1, TCP", "2, TCP, 64 KiB", "3, TCP, 128 KiB", "4, TCP, both ways, 2 streams each",
			"5, UDP, 1 Gb/s", "6, UDP, 1 Gb/s, both ways"}}
	vital := table{title: "How many processors were busy meanwhile, ends and device together, on one machine; in parentheses the runs' least and most:", labels: "test", rows: t.rows}
	for _, program := range []struct{ name, suite string }{{"iperf3", "boards"}, {"iperf 2", "boards-iperf2"}} {
		for _, device := range []string{"path", "nat", "bridge", "end"} {
			c, v := column{head: program.name + ", " + device}, column{head: program.name + ", " + device}
			for _, load := range loads {
				c.ours, v.ours = append(c.ours, ref{program.suite, cellName(device, load), "goodput"}),
					append(v.ours, ref{program.suite, cellName(device, load), "busy"})
			}
			t.columns, vital.columns = append(t.columns, c), append(vital.columns, v)
		}
	}
	return page{file: "sessions.md", suites: "sessions.yaml", labels: []string{"boards", "boards-iperf2"},
		tables: []table{t, vital}}
}
