package collect_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/pod/collect"
)

// rackServer is a controller's tree with Power and Thermal, as most have. blade is the tree of a controller
// with subsystems alone.
var (
	rackServer = map[string]string{
		"/redfish/v1/Chassis": `{"Members": [{"@odata.id": "/redfish/v1/Chassis/1U"}], "Members@odata.count": 1}`,
		"/redfish/v1/Chassis/1U": `{"@odata.type": "#Chassis.v1_25_0.Chassis", "Id": "1U",
			"Power": {"@odata.id": "/redfish/v1/Chassis/1U/Power"},
			"Thermal": {"@odata.id": "/redfish/v1/Chassis/1U/Thermal"},
			"EnvironmentMetrics": {"@odata.id": "/redfish/v1/Chassis/1U/EnvironmentMetrics"}}`,
		"/redfish/v1/Chassis/1U/Power": `{"PowerControl": [
			{"MemberId": "0", "Name": "System Input Power", "PowerConsumedWatts": 344.6,
				"PowerMetrics": {"IntervalInMin": 1, "AverageConsumedWatts": 319},
				"Status": {"State": "Enabled", "Health": "OK"}},
			{"MemberId": "1", "Name": "GPU", "PowerConsumedWatts": null, "Status": {"State": "Enabled"}}]}`,
		"/redfish/v1/Chassis/1U/Thermal": `{"Temperatures": [
			{"MemberId": "0", "Name": "CPU1 Temp", "ReadingCelsius": 41, "Status": {"State": "Enabled"}},
			{"MemberId": "1", "Name": "CPU2 Temp", "ReadingCelsius": 0, "Status": {"State": "Absent"}},
			{"MemberId": "2", "ReadingCelsius": -3.5}]}`,
	}
	blade = map[string]string{
		"/redfish/v1/Chassis/b1": `{"Id": "b1", "EnvironmentMetrics": {"@odata.id": ` +
			`"/redfish/v1/Chassis/b1/EnvironmentMetrics"}, "ThermalSubsystem": {"@odata.id": ` +
			`"/redfish/v1/Chassis/b1/ThermalSubsystem"}}`,
		"/redfish/v1/Chassis/b1/EnvironmentMetrics": `{"PowerWatts": {"DataSourceUri": ` +
			`"/redfish/v1/Chassis/b1/Sensors/Power", "Reading": 374}, "TemperatureCelsius": {"Reading": 22}}`,
		"/redfish/v1/Chassis/b1/ThermalSubsystem": `{"ThermalMetrics": {"@odata.id": ` +
			`"/redfish/v1/Chassis/b1/ThermalSubsystem/ThermalMetrics"}}`,
		"/redfish/v1/Chassis/b1/ThermalSubsystem/ThermalMetrics": `{"TemperatureReadingsCelsius": [
			{"DeviceName": "Intake", "Reading": 22.5},
			{"DataSourceUri": "/redfish/v1/Chassis/b1/Sensors/CPU1", "Reading": 63},
			{"DeviceName": "GPU"}]}`,
	}
)

// controller serves a tree over HTTPS to admin with the password lab, and credentials are those of Secrets that
// know it, its certificate's authority, or not.
func controller(t *testing.T, tree map[string]string) (url string, credentials collect.Folder) {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		resource, ok := tree[r.URL.Path]
		switch {
		case user != "admin" || password != "lab":
			w.Header().Set("WWW-Authenticate", `Basic realm="Redfish"`)
			w.WriteHeader(http.StatusUnauthorized)
		case !ok:
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
	return plan.Observer{Type: plan.ObserveRedfish, Redfish: &plan.RedfishChassis{URL: url, Chassis: id,
		Secret: secret}}
}

func TestAControllerTellsPowerAndTemperatures(t *testing.T) {
	url, credentials := controller(t, rackServer)
	for _, id := range []string{"", "1U"} {
		a := answered(t, chassis(url, id, "bmc"), credentials)
		for sensor, want := range map[string]float64{"CPU1 Temp": 41, "2": -3.5} {
			if n := number(t, a, "temperature", sensor); n.Value != want || n.Unit != "°C" {
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
		"/redfish/v1/Chassis/a": `{"Id": "a", "Thermal": {"@odata.id": "/redfish/v1/Chassis/a/Thermal"}}`,
		"/redfish/v1/Chassis/a/Thermal": `{"Temperatures": [{"Name": "CPU Temp"}` +
			strings.Repeat(`, {"Name": "CPU Temp", "ReadingCelsius": 40}`, sensors) + `]}`,
	}
}

// powers is a chassis with so many powers.
func powers(controls int) map[string]string {
	return map[string]string{
		"/redfish/v1/Chassis/a": `{"Id": "a", "Power": {"@odata.id": "/redfish/v1/Chassis/a/Power"}}`,
		"/redfish/v1/Chassis/a/Power": `{"PowerControl": [{}` +
			strings.Repeat(`, {"Name": "PSU", "PowerConsumedWatts": 40}`, controls) + `]}`,
	}
}

func TestSensorsOfOneNameAreToldApart(t *testing.T) {
	url, credentials := controller(t, thermal(48))
	a := answered(t, chassis(url, "a", "bmc"), credentials)
	if len(a.Numbers) != 48 {
		t.Errorf("%d temperatures, want all 48", len(a.Numbers))
	}
	for i, n := range a.Numbers {
		if want := fmt.Sprintf("CPU Temp (%d)", i+2); n.Part != want {
			t.Errorf("%q, want %q: the first has no reading", n.Part, want)
		}
	}
}

func TestAControllerWithSubsystemsAlone(t *testing.T) {
	url, credentials := controller(t, blade)
	a := answered(t, chassis(url, "b1", "bmc"), credentials)
	if n := number(t, a, "power", "chassis b1"); n.Value != 374 {
		t.Errorf("%+v, want 374 W", n)
	}
	if intake, cpu := number(t, a, "temperature", "Intake"), number(t, a, "temperature",
		"CPU1"); intake.Value != 22.5 || cpu.Value != 63 || len(a.Numbers) != 3 {
		t.Errorf("%+v, want 22.5 and 63 °C, and none of what has no reading", a.Numbers)
	}
}

// Some chassis refer to a resource that they don't have. The answer has the other resources' numbers, and says
// why this one's are missing.
func TestAnAbsentResourceLosesNoOther(t *testing.T) {
	remove := func(original map[string]string, paths ...string) map[string]string {
		tree := maps.Clone(original)
		for _, p := range paths {
			delete(tree, "/redfish/v1/Chassis/"+p)
		}
		return tree
	}
	for name, c := range map[string]struct {
		tree   map[string]string
		id     string
		values map[string]float64 // by whose they are
		lacks  string
	}{
		"power, and there is nothing else": {remove(rackServer, "1U/Power"), "1U", map[string]float64{"CPU1 Temp": 41,
			"2": -3.5}, "it has no /redfish/v1/Chassis/1U/EnvironmentMetrics"},
		"power, and there are metrics": {func() map[string]string {
			tree := remove(rackServer, "1U/Power")
			tree["/redfish/v1/Chassis/1U/EnvironmentMetrics"] = blade["/redfish/v1/Chassis/b1/EnvironmentMetrics"]
			return tree
		}(), "1U", map[string]float64{"CPU1 Temp": 41, "2": -3.5, "chassis 1U": 374}, ""},
		"temperatures": {remove(rackServer, "1U/Thermal"), "1U",
			map[string]float64{"System Input Power": 344.6}, "it has no /redfish/v1/Chassis/1U/Thermal"},
		"a subsystem's metrics": {remove(blade, "b1/ThermalSubsystem/ThermalMetrics"), "b1",
			map[string]float64{"chassis b1": 374}, "it has no /redfish/v1/Chassis/b1/ThermalSubsystem/ThermalMetrics"},
		"the metrics of a new chassis": {remove(blade, "b1/EnvironmentMetrics"), "b1",
			map[string]float64{"Intake": 22.5, "CPU1": 63}, "it has no /redfish/v1/Chassis/b1/EnvironmentMetrics"},
	} {
		t.Run(name, func(t *testing.T) {
			url, credentials := controller(t, c.tree)
			a := answered(t, chassis(url, c.id, "bmc"), credentials)
			lacks := ""
			for _, n := range a.Numbers {
				if n.Missing != "" {
					lacks = n.Missing
				} else if want, ok := c.values[n.Part]; !ok || n.Value != want {
					t.Errorf("%+v, want %v", n, c.values)
				}
				delete(c.values, n.Part)
			}
			if len(c.values) > 0 || lacks != c.lacks {
				t.Errorf("%+v (%s): %v isn't there, or isn't missing because of %q", a.Numbers, a.Missing, c.values,
					c.lacks)
			}
		})
	}
	url, credentials := controller(t, remove(rackServer, "1U/Power", "1U/Thermal"))
	missing(t, answered(t, chassis(url, "1U", "bmc"), credentials), "it has no /redfish/v1/Chassis/1U/")
}

// A controller's own certificate often has a common name alone, or another name.
func TestACertificateOfAnotherNameIsTakenByItsFingerprint(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		names []string
		want  string
	}{
		"a common name alone": {nil, "it has no name that is checked, and the common name idrac-ABC1234"},
		"another name":        {[]string{"bmc.lab"}, "it is for bmc.lab"},
	} {
		t.Run(name, func(t *testing.T) {
			der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{SerialNumber: big.NewInt(1),
				Subject: pkix.Name{CommonName: "idrac-ABC1234"}, DNSNames: c.names, NotAfter: time.Now().Add(time.Hour),
				IsCA: true, BasicConstraintsValid: true},
				&x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "idrac-ABC1234"}},
				&key.PublicKey, key)
			if err != nil {
				t.Fatal(err)
			}
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter,
				r *http.Request) {
				_, _ = io.WriteString(w, rackServer[r.URL.Path])
			}))
			s.Config.ErrorLog = log.New(io.Discard, "", 0)
			s.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
				MinVersion: tls.VersionTLS12}
			s.StartTLS()
			t.Cleanup(s.Close)
			sum := sha256.Sum256(der)
			digits, colons := hex.EncodeToString(sum[:]), strings.ReplaceAll(fmt.Sprintf("% X", sum), " ", ":")
			authority := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
			credentials := secrets(t, map[string]string{
				"trusted/username": "a", "trusted/ca.crt": authority, "named/username": "a", "named/ca.crt": authority,
				"named/serverName": "bmc.lab", "plain/username": "a", "plain/fingerprint": digits,
				"shown/username": "a", "shown/fingerprint": "sha256 Fingerprint=" + colons + "\n",
				"other/username": "a", "other/fingerprint": strings.Repeat("0", 64), "short/username": "a",
				"short/fingerprint": "AB:CD"})
			missing(t, answered(t, chassis(s.URL, "1U", "trusted"), credentials),
				"its certificate isn't for 127.0.0.1: "+c.want+
					". Put the name that it is for into the Secret as serverName, or, if the server's own page shows "+
					"the SHA-256 "+colons+", that as fingerprint")
			takes := []string{"plain", "shown"}
			if c.names != nil {
				takes = append(takes, "named")
			}
			for _, secret := range takes {
				if n := number(t, answered(t, chassis(s.URL, "1U", secret), credentials), "power",
					"System Input Power"); n.Value != 344.6 {
					t.Errorf("%s: %+v", secret, n)
				}
			}
			missing(t, answered(t, chassis(s.URL, "1U", "other"), credentials),
				"its certificate is another than the one whose fingerprint secret other has: it is of SHA-256 "+colons)
			missing(t, answered(t, chassis(s.URL, "1U", "short"), credentials),
				"secret short: fingerprint is no SHA-256, which is 64 hexadecimal digits, with or without colons")
		})
	}
}

func TestWhatAControllerCantTellIsMissing(t *testing.T) {
	for name, c := range map[string]struct {
		tree             map[string]string
		id, secret, want string
	}{
		"a wrong password": {rackServer, "1U", "other",
			"401 Unauthorized: it doesn't take what secret other has"},
		"an unknown certificate": {rackServer, "1U", "untrusting",
			"its certificate isn't trusted: put who signed it into the Secret, as ca.crt"},
		"no such chassis": {rackServer, "2U", "bmc", "it has no /redfish/v1/Chassis/2U"},
		"several": {map[string]string{"/redfish/v1/Chassis": `{"Members": [{"@odata.id": ` +
			`"/redfish/v1/Chassis/a"}, {"@odata.id": "/redfish/v1/Chassis/b"}]}`}, "", "bmc", "it has 2 chassis: " +
			"name one as redfish.chassis (a, b)"},
		"too many temperatures": {thermal(49), "a", "bmc",
			"chassis a tells of 49 temperatures, and 48 are followed at most"},
		"too many powers": {powers(17), "a", "bmc", "chassis a tells of 17 powers, and 16 are followed at most"},
		"nothing to read": {map[string]string{"/redfish/v1/Chassis/a": `{"Id": "a"}`}, "a", "bmc",
			"chassis a tells of no power and no temperatures"},
		"somebody else's": {map[string]string{"/redfish/v1/Chassis/a": `{"Id": "a", "Power": {"@odata.id": ` +
			`"@evil.example/"}}`}, "a", "bmc", "it refers to @evil.example/, which is none of its resources"},
		"no JSON": {map[string]string{"/redfish/v1/Chassis/a": `<html>`}, "a", "bmc",
			"its answer can't be read"},
	} {
		t.Run(name, func(t *testing.T) {
			url, credentials := controller(t, c.tree)
			missing(t, answered(t, chassis(url, c.id, c.secret), credentials), c.want)
		})
	}
}
