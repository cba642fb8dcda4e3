package collect

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure/observe"
)

// redfish is a management controller. Its documents are decoded here and not by a library, as the libraries
// read 0 W and an absent reading alike.
type redfish struct {
	chassis plan.RedfishChassis
	client  *http.Client
}

func newRedfish(c plan.RedfishChassis, s secret) (source, error) {
	client, err := newWeb(s)
	return redfish{c, client}, err
}

// link is a reference to another resource.
type link struct {
	ID string `json:"@odata.id"`
}

// chassisResource is the part of a Chassis that leads to power and temperatures. Older controllers have Power
// and Thermal, newer ones subsystems beside or instead.
type chassisResource struct {
	ID                 string `json:"Id"`
	Power              *link  `json:"Power"`
	Thermal            *link  `json:"Thermal"`
	EnvironmentMetrics *link  `json:"EnvironmentMetrics"`
	ThermalSubsystem   *link  `json:"ThermalSubsystem"`
}

// status is whether there is anything to read.
type status struct {
	State string `json:"State"`
}

type powerResource struct {
	PowerControl []struct {
		MemberID string   `json:"MemberId"`
		Name     string   `json:"Name"`
		Consumed *float64 `json:"PowerConsumedWatts"`
		Status   status   `json:"Status"`
	} `json:"PowerControl"`
}

type thermalResource struct {
	Temperatures []struct {
		MemberID string   `json:"MemberId"`
		Name     string   `json:"Name"`
		Reading  *float64 `json:"ReadingCelsius"`
		Status   status   `json:"Status"`
	} `json:"Temperatures"`
}

// excerpt is a sensor's within another resource.
type excerpt struct {
	DeviceName string   `json:"DeviceName"`
	Source     string   `json:"DataSourceUri"`
	Reading    *float64 `json:"Reading"`
}

type environmentResource struct {
	Power *excerpt `json:"PowerWatts"`
}

type thermalSubsystemResource struct {
	Metrics *link `json:"ThermalMetrics"`
}

type thermalMetricsResource struct {
	Temperatures []excerpt `json:"TemperatureReadingsCelsius"`
}

// How many sensors of each kind a chassis may have. Together they are the series of one observer at most.
const (
	mostPowers       = 16
	mostTemperatures = 48
)

func (r redfish) ask(ctx context.Context) (reading, error) {
	defer r.client.CloseIdleConnections()
	chassis, err := r.find(ctx)
	if err != nil {
		return reading{}, err
	}
	power, err := r.power(ctx, chassis)
	if err != nil && !isAbsent(err) {
		return reading{}, err
	}
	temperatures, noTemperatures := r.temperatures(ctx, chassis)
	if noTemperatures != nil && !isAbsent(noTemperatures) {
		return reading{}, noTemperatures
	}
	const instead = "and %d are followed at most: follow those that matter by observers of another type, such as SNMP"
	switch {
	case len(power)+len(temperatures) == 0 && cmp.Or(err, noTemperatures) != nil:
		return reading{}, cmp.Or(err, noTemperatures)
	case len(power)+len(temperatures) == 0:
		return reading{}, fmt.Errorf("chassis %s tells of no power and no temperatures", chassis.ID)
	case len(power) > mostPowers:
		return reading{}, fmt.Errorf("chassis %s tells of %d powers, "+instead, chassis.ID, len(power), mostPowers)
	case len(temperatures) > mostTemperatures:
		return reading{}, fmt.Errorf("chassis %s tells of %d temperatures, "+instead, chassis.ID, len(temperatures),
			mostTemperatures)
	}
	return reading{numbers: slices.Concat(power, lacking("power", plan.Watts, chassis.ID, err), temperatures,
		lacking("temperature", "°C", chassis.ID, noTemperatures))}, nil
}

// absentError is the error for a resource that another resource refers to and that isn't there. Some chassis
// keep such a reference.
type absentError struct{ resource string }

func (e absentError) Error() string { return "it has no " + e.resource }

func isAbsent(err error) bool {
	_, ok := errors.AsType[absentError](err)
	return ok
}

// lacking is why a chassis has no numbers of a kind. It is empty if there are some, or if nothing refers to them.
func lacking(name, unit, chassis string, reason error) []observe.Number {
	if reason == nil {
		return nil
	}
	return []observe.Number{{Name: name, Part: "chassis " + chassis, Unit: unit, Kind: report.Gauge,
		Missing: reason.Error()}}
}

// find is the chassis of the observer, or the only one.
func (r redfish) find(ctx context.Context) (c chassisResource, err error) {
	const collection = "/redfish/v1/Chassis"
	if r.chassis.Chassis != "" {
		err = r.get(ctx, collection+"/"+r.chassis.Chassis, &c)
		return c, err
	}
	var members struct {
		Members []link `json:"Members"`
	}
	if err := r.get(ctx, collection, &members); err != nil {
		return c, err
	}
	if len(members.Members) != 1 {
		var names []string
		for _, m := range members.Members {
			names = append(names, path.Base(m.ID))
		}
		return c, fmt.Errorf("it has %d chassis: name one as redfish.chassis (%s)", len(names),
			oneLine(strings.Join(names, ", ")))
	}
	err = r.get(ctx, members.Members[0].ID, &c)
	return c, err
}

func (r redfish) power(ctx context.Context, c chassisResource) ([]observe.Number, error) {
	var absent error
	powers := sensors{name: "power", unit: plan.Watts}
	if c.Power != nil {
		var p powerResource
		if absent = r.get(ctx, c.Power.ID, &p); absent != nil && !isAbsent(absent) {
			return nil, absent
		}
		for _, control := range p.PowerControl {
			powers.add(cmp.Or(control.Name, control.MemberID), control.Status, control.Consumed)
		}
	}
	if len(powers.numbers) > 0 || c.EnvironmentMetrics == nil {
		return powers.numbers, absent
	}
	var e environmentResource
	if err := r.get(ctx, c.EnvironmentMetrics.ID, &e); err != nil || e.Power == nil {
		return nil, cmp.Or(err, absent)
	}
	powers.add("chassis "+c.ID, status{}, e.Power.Reading)
	return powers.numbers, nil
}

func (r redfish) temperatures(ctx context.Context, c chassisResource) ([]observe.Number, error) {
	var absent error
	temperatures := sensors{name: "temperature", unit: "°C"}
	if c.Thermal != nil {
		var t thermalResource
		if absent = r.get(ctx, c.Thermal.ID, &t); absent != nil && !isAbsent(absent) {
			return nil, absent
		}
		for _, sensor := range t.Temperatures {
			temperatures.add(cmp.Or(sensor.Name, sensor.MemberID), sensor.Status, sensor.Reading)
		}
	}
	if len(temperatures.numbers) > 0 || c.ThermalSubsystem == nil {
		return temperatures.numbers, absent
	}
	var s thermalSubsystemResource
	if err := r.get(ctx, c.ThermalSubsystem.ID, &s); err != nil || s.Metrics == nil {
		return nil, cmp.Or(err, absent)
	}
	var m thermalMetricsResource
	if err := r.get(ctx, s.Metrics.ID, &m); err != nil {
		return nil, err
	}
	for _, sensor := range m.Temperatures {
		temperatures.add(cmp.Or(sensor.DeviceName, path.Base(sensor.Source)), status{}, sensor.Reading)
	}
	return temperatures.numbers, nil
}

// sensors are those of one kind that have a reading.
type sensors struct {
	name, unit string
	// how many there are of each name, with a reading or without one, so that each keeps its name
	named   map[string]int
	numbers []observe.Number
}

// add adds a sensor's reading, if it has one and is of something that is there. The second of a name is NAME (2).
func (s *sensors) add(name string, condition status, reading *float64) {
	if s.named == nil {
		s.named = map[string]int{}
	}
	name = oneLine(name)
	part := name
	for n := s.named[name] + 1; s.named[part] > 0; n++ { // a sensor may be called NAME (2) itself
		part = fmt.Sprintf("%s (%d)", name, n)
		s.named[name] = n
	}
	s.named[part] = max(s.named[part], 1)
	if reading == nil || condition.State != "" && condition.State != "Enabled" {
		return
	}
	s.numbers = append(s.numbers, observe.Number{Name: s.name, Part: part, Unit: s.unit, Kind: report.Gauge,
		Value: *reading})
}

// get reads one resource, at the controller's own address, wherever a reference would lead.
func (r redfish) get(ctx context.Context, resource string, document any) error {
	if !strings.HasPrefix(resource, "/redfish/") {
		return fmt.Errorf("it refers to %s, which is none of its resources", oneLine(resource))
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.chassis.URL+resource, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", "application/json")
	answer, err := r.client.Do(request)
	if err != nil {
		return plainly(err)
	}
	defer func() {
		_, _ = io.Copy(io.Discard, answer.Body) // so that the next request may use the connection
		_ = answer.Body.Close()
	}()
	switch answer.StatusCode {
	case http.StatusNotFound, http.StatusGone, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return absentError{oneLine(resource)}
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: it answers %s", oneLine(resource), oneLine(answer.Status))
	}
	if err := json.NewDecoder(answer.Body).Decode(document); err != nil {
		return fmt.Errorf("%s: its answer can't be read: %w", oneLine(resource), err)
	}
	return nil
}
