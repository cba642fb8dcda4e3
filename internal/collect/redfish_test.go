package collect_test

import (
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/collect"
	"github.com/linerate-dev/linerate/internal/plan"
)

// rackServer is a controller's tree with Power and Thermal, which most have; blade is of one that has subsystems alone.
var (
	rackServer = map[string]string{
		"/redfish/v1/Chassis": `{"Members": [{"@odata.id": "/redfish/v1/Chassis/1U"}], "Members@odata.count": 1}`,
		"/redfish/v1/Chassis/1U": `{"@odata.type": "#Chassis.v1_25_0.Chassis", "Id": "1U", "Power": {"@odata.id": "/redfish/v1/Chassis/1U/Power"}, "Thermal": {"@odata.id": "/redfish/v1/Chassis/1U/Thermal"},
			"EnvironmentMetrics": {"@odata.id": "/redfish/v1/Chassis/1U/EnvironmentMetrics"}}`,
		"/redfish/v1/Chassis/1U/Power": `{"PowerControl": [
			{"MemberId": "0", "Name": "System Input Power", "PowerConsumedWatts": 344.6, "PowerMetrics": {"IntervalInMin": 1, "AverageConsumedWatts": 319}, "Status": {"State": "Enabled", "Health": "OK"}},
			{"MemberId": "1", "Name": "GPU", "PowerConsumedWatts": null, "Status": {"State": "Enabled"}}]}`,
		"/redfish/v1/Chassis/1U/Thermal": `{"Temperatures": [
			{"MemberId": "0", "Name": "CPU1 Temp", "ReadingCelsius": 41, "Status": {"State": "Enabled"}},
			{"MemberId": "1", "Name": "CPU2 Temp", "ReadingCelsius": 0, "Status": {"State": "Absent"}},
			{"MemberId": "2", "ReadingCelsius": -3.5}]}`,
	}
	blade = map[string]string{
		"/redfish/v1/Chassis/b1":                    `{"Id": "b1", "EnvironmentMetrics": {"@odata.id": "/redfish/v1/Chassis/b1/EnvironmentMetrics"}, "ThermalSubsystem": {"@odata.id": "/redfish/v1/Chassis/b1/ThermalSubsystem"}}`,
		"/redfish/v1/Chassis/b1/EnvironmentMetrics": `{"PowerWatts": {"DataSourceUri": "/redfish/v1/Chassis/b1/Sensors/Power", "Reading": 374}, "TemperatureCelsius": {"Reading": 22}}`,
		"/redfish/v1/Chassis/b1/ThermalSubsystem":   `{"ThermalMetrics": {"@odata.id": "/redfish/v1/Chassis/b1/ThermalSubsystem/ThermalMetrics"}}`,
		"/redfish/v1/Chassis/b1/ThermalSubsystem/ThermalMetrics": `{"TemperatureReadingsCelsius": [{"DeviceName": "Intake", "Reading": 22.5}, {"DataSourceUri": "/redfish/v1/Chassis/b1/Sensors/CPU1", "Reading": 63},
			{"DeviceName": "GPU"}]}`,
	}
)

// controller serves a tree over HTTPS to admin with the password lab, and credentials are those of Secrets that know it, its certificate's authority, or not.
func controller(t *testing.T, tree map[string]string) (url string, credentials collect.Folder) {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		resource, there := tree[r.URL.Path]
		switch {
		case user != "admin" || password != "lab":
			w.Header().Set("WWW-Authenticate", `Basic realm="Redfish"`)
			w.WriteHeader(http.StatusUnauthorized)
		case !there:
			http.NotFound(w, r)
		default:
			_, _ = io.WriteString(w, resource)
		}
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // who doesn't trust it says so
	s.StartTLS()
	t.Cleanup(s.Close)
	authority := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
	return s.URL, secrets(t, map[string]string{
		"bmc/username": "admin", "bmc/password": "lab", "bmc/ca.crt": authority,
		"other/username": "admin", "other/password": "office", "other/ca.crt": authority,
		"untrusting/username": "admin", "untrusting/password": "lab",
	})
}

func chassis(url, id, secret string) plan.Observer {
	return plan.Observer{Type: plan.ObserveRedfish, Redfish: &plan.RedfishChassis{URL: url, Chassis: id, Secret: secret}}
}

func TestAControllerTellsPowerAndTemperatures(t *testing.T) {
	url, credentials := controller(t, rackServer)
	for _, id := range []string{"", "1U"} {
		a := answered(t, chassis(url, id, "bmc"), credentials)
		for of, want := range map[string]float64{"CPU1 Temp": 41, "2": -3.5} {
			if n := number(t, a, "temperature", of); n.Value != want || n.Unit != "°C" {
				t.Errorf("%+v, want %g °C", n, want)
			}
		}
		if n := number(t, a, "power", "System Input Power"); n.Value != 344.6 || n.Unit != "W" {
			t.Errorf("%+v, want 344.6 W", n)
		}
		if len(a.Numbers) != 3 {
			t.Errorf("%+v: a reading that is null is no 0, and what is absent has none", a.Numbers)
		}
	}
}

// thermal is a chassis with so many temperatures, all of one name, of which the first has no reading.
func thermal(sensors int) map[string]string {
	return map[string]string{
		"/redfish/v1/Chassis/a":         `{"Id": "a", "Thermal": {"@odata.id": "/redfish/v1/Chassis/a/Thermal"}}`,
		"/redfish/v1/Chassis/a/Thermal": `{"Temperatures": [{"Name": "CPU Temp"}` + strings.Repeat(`, {"Name": "CPU Temp", "ReadingCelsius": 40}`, sensors) + `]}`,
	}
}

// powers is a chassis with so many powers.
func powers(controls int) map[string]string {
	return map[string]string{
		"/redfish/v1/Chassis/a":       `{"Id": "a", "Power": {"@odata.id": "/redfish/v1/Chassis/a/Power"}}`,
		"/redfish/v1/Chassis/a/Power": `{"PowerControl": [{}` + strings.Repeat(`, {"Name": "PSU", "PowerConsumedWatts": 40}`, controls) + `]}`,
	}
}

func TestSensorsOfOneNameAreToldApart(t *testing.T) {
	url, credentials := controller(t, thermal(48))
	a := answered(t, chassis(url, "a", "bmc"), credentials)
	if len(a.Numbers) != 48 {
		t.Errorf("%d temperatures, want all 48", len(a.Numbers))
	}
	for i, n := range a.Numbers {
		if want := fmt.Sprintf("CPU Temp (%d)", i+2); n.Of != want {
			t.Errorf("%q, want %q: the first has no reading", n.Of, want)
		}
	}
}

func TestAControllerWithSubsystemsAlone(t *testing.T) {
	url, credentials := controller(t, blade)
	a := answered(t, chassis(url, "b1", "bmc"), credentials)
	if n := number(t, a, "power", "chassis b1"); n.Value != 374 {
		t.Errorf("%+v, want 374 W", n)
	}
	if intake, cpu := number(t, a, "temperature", "Intake"), number(t, a, "temperature", "CPU1"); intake.Value != 22.5 || cpu.Value != 63 || len(a.Numbers) != 3 {
		t.Errorf("%+v, want 22.5 and 63 °C, and none of what has no reading", a.Numbers)
	}
}

func TestWhatAControllerCantTellIsMissing(t *testing.T) {
	for name, c := range map[string]struct {
		tree             map[string]string
		id, secret, want string
	}{
		"a wrong password":       {rackServer, "1U", "other", "401 Unauthorized: it doesn't take what secret other has"},
		"an unknown certificate": {rackServer, "1U", "untrusting", "its certificate isn't trusted: put who signed it into the Secret, as ca.crt"},
		"no such chassis":        {rackServer, "2U", "bmc", "it has no /redfish/v1/Chassis/2U"},
		"several":                {map[string]string{"/redfish/v1/Chassis": `{"Members": [{"@odata.id": "/redfish/v1/Chassis/a"}, {"@odata.id": "/redfish/v1/Chassis/b"}]}`}, "", "bmc", "it has 2 chassis: name one as redfish.chassis (a, b)"},
		"too many temperatures":  {thermal(49), "a", "bmc", "chassis a tells of 49 temperatures, and 48 are followed at most"},
		"too many powers":        {powers(17), "a", "bmc", "chassis a tells of 17 powers, and 16 are followed at most"},
		"nothing to read":        {map[string]string{"/redfish/v1/Chassis/a": `{"Id": "a"}`}, "a", "bmc", "chassis a tells of no power and no temperatures"},
		"somebody else's":        {map[string]string{"/redfish/v1/Chassis/a": `{"Id": "a", "Power": {"@odata.id": "@evil.example/"}}`}, "a", "bmc", "it refers to @evil.example/, which is none of its resources"},
		"no JSON":                {map[string]string{"/redfish/v1/Chassis/a": `<html>`}, "a", "bmc", "its answer can't be read"},
	} {
		t.Run(name, func(t *testing.T) {
			url, credentials := controller(t, c.tree)
			missing(t, answered(t, chassis(url, c.id, c.secret), credentials), c.want)
		})
	}
}
