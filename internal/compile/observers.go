package compile

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/host/signs"
)

// observerReader reads the observers, and refuses those whose signs nothing could read.
type observerReader struct {
	*refusals
	specs  []v1alpha1.Observer
	device *device
	dut    v1alpha1.DUTSpec
	engine engine
}

// seriesOf are the series that an observer has, and whether it also has those of all processors together. An
// observer that asks over the network has its source's series and, if these are of power, power per traffic.
func seriesOf(o v1alpha1.Observer) (names []string, ofAll bool) {
	switch {
	case o.Type == v1alpha1.ObserverProcessors:
		return []string{"busy", "softirq", "stolen"}, true
	case o.Type == v1alpha1.ObserverLimiter:
		return []string{"passed", "dropped"}, false
	case o.Type == v1alpha1.ObserverInterfaces && o.Observed == v1alpha1.ObserverOfGenerator:
		return []string{"received", "sent", "dropped"}, false
	case o.Type == v1alpha1.ObserverPrometheus, o.Type == v1alpha1.ObserverSNMP, o.Type == v1alpha1.ObserverSSH,
		o.Type == v1alpha1.ObserverIPMI:
		return perTraffic(o, "value"), false
	case o.Type == v1alpha1.ObserverRedfish:
		return perTraffic(o, "power", "temperature"), false
	case o.Type == v1alpha1.ObserverVPP:
		return []string{plan.VPPClocks, plan.VPPVectors, plan.VPPCalls, plan.ClocksPerPacket, plan.VectorsPerCall},
			false
	}
	for _, s := range signs.Kinds[string(o.Type)].Series {
		names, ofAll = append(names, s.Name), ofAll || s.OfAll
	}
	return names, ofAll
}

// perTraffic adds the series of power per traffic, if the observer's series are of power.
func perTraffic(o v1alpha1.Observer, names ...string) []string {
	power := o.Type == v1alpha1.ObserverRedfish || o.Prometheus != nil && o.Prometheus.Unit == plan.Watts ||
		o.SNMP != nil && o.SNMP.Unit == plan.Watts || o.SSH != nil && o.SSH.Unit == plan.Watts ||
		o.IPMI != nil && (o.IPMI.Unit == plan.Watts || o.IPMI.Unit == "")
	if power {
		names = append(names, plan.WattsPerGbps, plan.JoulesPerPacket)
	}
	return names
}

// askEvery is the default of how often a source is asked over the network, about as often as management controllers
// update their readings.
const askEvery = 5 * time.Second

// readEvery is the default of how often a VPP's statistics are read, and vppSocket VPP's default socket for them.
const (
	readEvery = time.Second
	vppSocket = "/run/vpp/stats.sock"
)

// readSource reads what source an observer asks, and how often. An observer that asks none isn't changed.
func (reader *observerReader) readSource(path *field.Path, o v1alpha1.Observer, observer *plan.Observer) {
	interval := askEvery
	switch {
	case o.Prometheus != nil:
		observer.Prometheus = &plan.PrometheusQuery{URL: o.Prometheus.URL, Query: o.Prometheus.Query,
			Unit: string(o.Prometheus.Unit), Secret: string(o.Prometheus.SecretName)}
	case o.SNMP != nil:
		observer.SNMP = &plan.SNMPObject{Address: reader.withPort(path.Child("snmp", "address"), o.SNMP.Address, 161),
			OID: "." +
				strings.TrimPrefix(o.SNMP.OID, "."), Unit: string(o.SNMP.Unit),
			Scale: cmp.Or(o.SNMP.Scale, "1"), Secret: string(o.SNMP.SecretName)}
	case o.Redfish != nil:
		observer.Redfish = &plan.RedfishChassis{URL: strings.TrimSuffix(o.Redfish.URL, "/"), Chassis: o.Redfish.Chassis,
			Secret: string(o.Redfish.SecretName)}
	case o.SSH != nil:
		observer.SSH = &plan.SSHCommand{Address: reader.withPort(path.Child("ssh", "address"), o.SSH.Address, 22),
			Command: o.SSH.Command, Unit: string(o.SSH.Unit), Secret: string(o.SSH.SecretName)}
	case o.IPMI != nil:
		reader.refuseIf(o.IPMI.Sensor != "" && o.IPMI.Unit == "", path.Child("ipmi", "unit"), noValue,
			"a sensor's number has a unit: say which, such as °C")
		observer.IPMI = &plan.IPMISensor{Address: reader.withPort(path.Child("ipmi", "address"), o.IPMI.Address, 623),
			Sensor: o.IPMI.Sensor, Unit: cmp.Or(string(o.IPMI.Unit), plan.Watts), Secret: string(o.IPMI.SecretName)}
	case o.Type == v1alpha1.ObserverVPP:
		observer.VPP = &plan.VPPStats{Socket: vppSocket}
		if o.VPP != nil {
			observer.VPP.Socket = cmp.Or(o.VPP.Socket, vppSocket)
		}
		interval = readEvery
	default:
		return
	}
	observer.Interval = plan.Duration(cmp.Or(reader.duration(path.Child("interval"), o.Interval), interval))
	observer.AveragingTime = plan.Duration(reader.duration(path.Child("averagingTime"), o.AveragingTime))
}

// withPort is a source's address with its port. The schema has checked that it is a host, in brackets where it has
// colons, with or without a port.
func (reader *observerReader) withPort(path *field.Path, address string, port int) string {
	colon := strings.LastIndexByte(address, ':')
	if colon < 0 || strings.HasSuffix(address, "]") {
		return fmt.Sprintf("%s:%d", address, port)
	}
	if n, err := strconv.ParseUint(address[colon+1:], 10, 16); err != nil || n == 0 {
		reader.refusef(path, address, "a port is between 1 and 65535: leave it out for %d", port)
	}
	return address
}

// read are the Plan's observers, both on one machine and in a cluster. In a cluster a Reference serves its
// node's vital signs itself, and a user's device gets a vitals pod beside it. An observer whose signs nothing
// could read is refused.
func (reader *observerReader) read() []plan.Observer {
	var observers []plan.Observer
	for i, o := range reader.specs {
		reader.check(i, o)
		observer := plan.Observer{Name: o.Name, Observed: string(o.Observed), Type: string(o.Type)}
		reader.readSource(specPath().Child("observers").Index(i), o, &observer)
		observers = append(observers, observer)
	}
	return observers
}

func (reader *observerReader) check(i int, o v1alpha1.Observer) {
	path := specPath().Child("observers").Index(i)
	ofDevice := o.Observed == v1alpha1.ObserverOfDUT
	if asksOverTheNetwork(o) {
		return // whatever the device is
	}
	if o.Type == v1alpha1.ObserverVPP {
		reader.checkVPP(path, o)
		return
	}
	switch {
	case o.Type == v1alpha1.ObserverLimiter && !reader.device.hasLimit():
		reader.refuse(path.Child("type"), o.Type,
			"only a Reference with a limit has a Limiter: set dut to {type: Reference, reference: {limit: ...}}, or "+
				"leave this observer out")
	case o.Type == v1alpha1.ObserverInterfaces && ofDevice && reader.dut.Type != v1alpha1.DUTReference:
		reader.refuse(path.Child("observed"), o.Observed, "linerate has no program in the network namespace of a device of type "+
			string(reader.dut.Type)+" to read its interfaces: say observed: Generator for the other end of its links, or "+
			"leave this observer out")
	case o.Type != v1alpha1.ObserverLimiter && ofDevice && !reader.device.isPod(): // linerate can't put a program there
		reader.refuse(path.Child("observed"), o.Observed, "linerate has no program on a device of type "+string(reader.dut.Type)+
			" to read its machine: say observed: Generator, or Node for every machine where linerate has one, or leave "+
			"this observer out")
	case o.Type == v1alpha1.ObserverInterfaces && !ofDevice && reader.engine != nil &&
		reader.engine.whyNoInterfaceCounters() != "":
		reader.refuse(path.Child("type"), o.Type, reader.engine.whyNoInterfaceCounters())
	}
}

func asksOverTheNetwork(o v1alpha1.Observer) bool {
	return o.Prometheus != nil || o.SNMP != nil || o.Redfish != nil || o.SSH != nil || o.IPMI != nil
}

// checkVPP refuses an observer of a VPP unless the device runs already.
func (reader *observerReader) checkVPP(path *field.Path, o v1alpha1.Observer) {
	if reader.dut.Type != v1alpha1.DUTDevice {
		reader.refuse(path.Child("type"), o.Type,
			"a VPP is software of yours that runs on the machine of linerate run: set dut.type: Device, or leave "+
				"this observer out")
	}
}

// checkInCluster refuses observers of a VPP, since no pod of linerate's has the device's socket, and of IPMI, since
// none has ipmitool.
func (reader *observerReader) checkInCluster() {
	for i, o := range reader.specs {
		if o.Type == v1alpha1.ObserverIPMI {
			reader.refuse(specPath().Child("observers").Index(i).Child("type"), o.Type,
				"IPMI is asked by the program ipmitool, which no pod of linerate's has: use Redfish, SSH to a host that has "+
					"ipmitool, or Prometheus with an exporter of IPMI, or measure with linerate run")
		}
		if o.Type == v1alpha1.ObserverVPP {
			reader.refuse(specPath().Child("observers").Index(i).Child("type"), o.Type,
				"a VPP's statistics are read from a socket on its machine, which no pod of linerate's has: measure "+
					"with linerate run on that machine, ask a Prometheus server that scrapes VPP's exporter, or "+
					"leave this observer out")
		}
	}
}

// hasLimit says that the device is a Reference with a limit.
func (d *device) hasLimit() bool {
	dut := d.spec.DUT
	return dut.Type == v1alpha1.DUTReference && dut.Reference != nil && dut.Reference.Limit != nil
}
