package compile

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

// servers are generators of an engine that run already. linerate starts nothing there, and asks for nothing.
type servers struct{ engine }

func (servers) runsAlready() bool { return true }

// checkPods refuses ends of sessions, which a cluster's runner has no secret for. There are no pods.
func (servers) checkPods(es *engineSpec) {
	if AlwaysPerLink(es.spec) {
		es.refuse(serversPath(), noValue, "in a cluster the ends of sessions are pods: remove servers, or measure by "+
			"linerate run")
	}
}

func (servers) resources(*engineSpec) (devices, kernel Resources) { return Resources{}, Resources{} }

func (servers) sending(*v1alpha1.GeneratorSpec) *plan.Sending { return nil }

func (s servers) whyNoInterfaceCounters() string {
	return cmp.Or(s.engine.whyNoInterfaceCounters(), "generators that run already have no observers: let linerate "+
		"start them (remove generator.placement.servers), or remove this observer")
}

// defaultRPCPort is where TRex listens.
const defaultRPCPort = ":4501"

func serversPath() *field.Path { return specPath().Child("generator", "placement", "servers") }

// check refuses what the engine can't do, addresses that don't exist, and servers that aren't as many as the replicas.
func (s servers) check(es *engineSpec) {
	s.engine.check(es)
	if AlwaysPerLink(es.spec) {
		es.refuseTags("ends that run already send without VLAN tags: remove vlan, and start linerate sessions on an " +
			"interface of that VLAN, such as eth1.100")
	}
	listed := es.spec.Generator.Servers()
	onLink := map[v1alpha1.LinkName]int{}
	for i, server := range listed {
		onLink[server.Link]++
		host, number, _ := cutPort(string(server.Address))
		if len(number) > 5 || len(number) == 5 && number > "65535" {
			es.refusef(serversPath().Index(i).Child("address"), string(server.Address),
				"port %s doesn't exist: use 1 to 65535, such as %s%s", number, host, defaultRPCPort)
		}
		if server.Link == "" && AlwaysPerLink(es.spec) {
			es.refuse(serversPath().Index(i).Child("link"), noValue, "sessions have an end on each link: name the "+
				"link that this server is on, such as "+string(es.spec.Links[0].Name))
			return
		}
		if link := server.Link; link != "" && !slices.ContainsFunc(es.spec.Links,
			func(l v1alpha1.LinkSpec) bool { return l.Name == link }) {
			es.refuse(serversPath().Index(i).Child("link"), link, "there is no such link: use the name of "+
				"one of spec.links")
			return
		}
	}
	replicas := max(int(es.spec.Generator.Replicas), 1)
	path := specPath().Child("generator", "replicas")
	switch {
	case onLink[""] == len(listed) && len(listed) != replicas:
		es.refusef(path, replicas, "a server is a replica: replicas must be the number of placement.servers, %d",
			len(listed))
	case onLink[""] == len(listed):
	case onLink[""] > 0:
		es.refuse(serversPath(), noValue, "a server has a port on each link, or on one: give each server a link, or "+
			"none")
	default:
		for _, link := range es.spec.Links {
			if onLink[link.Name] != replicas {
				es.refusef(path, replicas, "each link has a server for each replica, and %s has %d: replicas must be "+
					"the number of servers of each link", link.Name, onLink[link.Name])
				return
			}
		}
	}
}

// server is the replica's address, with its port.
func (servers) server(spec *v1alpha1.GeneratorSpec, replica int, link string) string {
	for _, server := range spec.Servers() {
		switch {
		case string(server.Link) != link:
		case replica == 0:
			return withPort(string(server.Address))
		default:
			replica--
		}
	}
	return ""
}

// withPort is a server's address with its port, by default TRex's own.
func withPort(server string) string {
	if host, _, found := cutPort(server); !found {
		return host + defaultRPCPort
	}
	return server
}

// cutPort splits host:port. An IPv6 address keeps its brackets.
func cutPort(server string) (host, number string, found bool) {
	i := strings.LastIndexByte(server, ':')
	if i < 0 || strings.HasSuffix(server, "]") {
		return server, "", false
	}
	return server[:i], server[i+1:], true
}
