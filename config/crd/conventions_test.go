package crd_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"sigs.k8s.io/yaml"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/config/crd"
	"github.com/linerate-dev/linerate/internal/document/report"
)

func rootSchema(t *testing.T, text []byte) apiextensionsv1.JSONSchemaProps {
	t.Helper()
	var manifest apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(text, &manifest); err != nil {
		t.Fatal(err)
	}
	return *manifest.Spec.Versions[0].Schema.OpenAPIV3Schema
}

// ofEachKind runs a test on both schemas.
func ofEachKind(t *testing.T, test func(t *testing.T, root apiextensionsv1.JSONSchemaProps)) {
	t.Helper()
	for kind, text := range manifests() {
		t.Run(kind, func(t *testing.T) { test(t, rootSchema(t, text)) })
	}
}

// inKubernetesForm are the fields that hold what Kubernetes itself describes, or LoadTest's own schema does. They are stored as they are, and read
// by packages compile and suite.
func inKubernetesForm() []string {
	return []string{"spec.dut.pod.template", "spec.dut.setup.template", "spec.dut.teardown.template", "spec.generator.pod.affinity",
		"spec.template.spec", "spec.axes[].values[].patch"}
}

// ofAnything says that a field is a map to values of any type.
func ofAnything(s apiextensionsv1.JSONSchemaProps) bool {
	return s.AdditionalProperties != nil && s.AdditionalProperties.Schema.XPreserveUnknownFields != nil
}

// ofKubernetes says that a field's type is Kubernetes' own, and so its description and its bounds.
func ofKubernetes(path string) bool {
	return strings.HasPrefix(path, "spec.generator.pod.tolerations[].") || strings.HasPrefix(path, "spec.generator.pod.imagePullSecrets[].")
}

// walk visits every field of spec and status.
func walk(path string, s apiextensionsv1.JSONSchemaProps, visit func(path string, s apiextensionsv1.JSONSchemaProps)) {
	for name, property := range s.Properties {
		at := strings.TrimPrefix(path+"."+name, ".")
		if path == "" && name != "spec" && name != "status" || strings.HasPrefix(at, "status.conditions") {
			continue // Kubernetes' own
		}
		visit(at, property)
		walk(at, property, visit)
		if property.Items != nil && property.Items.Schema != nil {
			visit(at+"[]", *property.Items.Schema)
			walk(at+"[]", *property.Items.Schema, visit)
		}
	}
}

func TestEveryFieldIsBounded(t *testing.T) { ofEachKind(t, everyFieldIsBounded) }

// boundsLength says that what matches a pattern is only so long: it is anchored, and repeats nothing without end.
func boundsLength(pattern string) bool {
	return strings.HasPrefix(pattern, "^") && strings.HasSuffix(pattern, "$") && !strings.ContainsAny(pattern, "*+") &&
		!strings.Contains(pattern, ",}")
}

func everyFieldIsBounded(t *testing.T, root apiextensionsv1.JSONSchemaProps) {
	t.Helper()
	fields := 0
	walk("", root, func(path string, s apiextensionsv1.JSONSchemaProps) {
		fields++
		if ofKubernetes(path) {
			return
		}
		switch s.Type {
		case "string":
			if s.MaxLength == nil && s.Enum == nil && s.Format != "date-time" && !boundsLength(s.Pattern) {
				t.Errorf("%s: a string without a greatest length", path)
			}
		case "array":
			if s.MaxItems == nil || s.XListType == nil {
				t.Errorf("%s: a list without a greatest length or a list type", path)
			}
		case "integer":
			if strings.HasPrefix(path, "spec.") && (s.Minimum == nil || s.Maximum == nil) {
				t.Errorf("%s: a number without bounds", path)
			}
		case "number":
			t.Errorf("%s: a float, which reads back as another number", path)
		}
		if s.AdditionalProperties != nil && s.MaxProperties == nil {
			t.Errorf("%s: a map without a greatest size", path)
		}
		if open := path == "spec.generator.trex.config" || slices.Contains(inKubernetesForm(), path); ofAnything(s) != open {
			t.Errorf("%s: is a map to values of any type: %v, want %v", path, !open, open)
		}
		if s.XPreserveUnknownFields != nil && path != "status.operator" {
			t.Errorf("%s: the rule that spec can't be changed doesn't see fields that no schema names: let it be a map to values of any type", path)
		}
	})
	if fields < 50 {
		t.Errorf("only %d fields were seen", fields)
	}
}

func TestEveryFieldIsExplained(t *testing.T) { ofEachKind(t, everyFieldIsExplained) }

func everyFieldIsExplained(t *testing.T, root apiextensionsv1.JSONSchemaProps) {
	t.Helper()
	walk("", root, func(path string, s apiextensionsv1.JSONSchemaProps) {
		name := path[strings.LastIndex(path, ".")+1:]
		if strings.HasSuffix(name, "[]") || ofKubernetes(path) {
			return
		}
		if !strings.HasPrefix(s.Description, name+" ") && !strings.HasPrefix(s.Description, name+":") {
			t.Errorf("%s: its description begins %.30q, not with its name", path, s.Description)
		}
	})
}

// notations are how quantities are written, by a value of each: rates, spans, shares, and sizes in bytes.
func notations() []string { return []string{"10kpps", "10gbps", "10m", "10%", "10Gi"} }

// isQuantity says that a field's values have a unit.
func isQuantity(s apiextensionsv1.JSONSchemaProps) bool {
	return s.Type == "string" && s.Pattern != "" && s.Enum == nil && slices.ContainsFunc(notations(), func(value string) bool {
		return regexp.MustCompile(s.Pattern).MatchString(value)
	}) && !regexp.MustCompile(s.Pattern).MatchString("abc")
}

func TestEveryQuantityShowsItsUnit(t *testing.T) { ofEachKind(t, everyQuantityShowsItsUnit) }

func everyQuantityShowsItsUnit(t *testing.T, root apiextensionsv1.JSONSchemaProps) {
	t.Helper()
	quantities := 0
	walk("spec", root.Properties["spec"], func(path string, s apiextensionsv1.JSONSchemaProps) {
		if !isQuantity(s) || strings.HasSuffix(path, "[]") {
			return
		}
		quantities++
		words := strings.FieldsFunc(s.Description, func(r rune) bool { return strings.ContainsRune(" \n,;:()\"", r) })
		if s.Default != nil {
			words = append(words, strings.Trim(string(s.Default.Raw), `"`))
		}
		if !slices.ContainsFunc(words, func(word string) bool {
			return regexp.MustCompile(s.Pattern).MatchString(strings.TrimSuffix(word, "."))
		}) {
			t.Errorf("%s: neither its default nor its description shows a value with a unit: %s", path, s.Description)
		}
	})
	if quantities < 3 {
		t.Errorf("only %d quantities were seen", quantities)
	}
}

func TestEveryExampleIsAValueOfItsField(t *testing.T) { ofEachKind(t, everyExampleIsAValueOfItsField) }

func everyExampleIsAValueOfItsField(t *testing.T, root apiextensionsv1.JSONSchemaProps) {
	t.Helper()
	examples := 0
	walk("spec", root.Properties["spec"], func(path string, s apiextensionsv1.JSONSchemaProps) {
		_, text, found := strings.Cut(strings.Join(strings.Fields(s.Description), " "), "Example: ")
		if !found {
			return
		}
		var internal apiextensions.JSONSchemaProps
		if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&s, &internal, nil); err != nil {
			t.Fatal(err)
		}
		validator, _, err := validation.NewSchemaValidator(&internal)
		if err != nil {
			t.Fatal(err)
		}
		structural, err := structuralschema.NewStructural(&internal)
		if err != nil {
			t.Fatal(err)
		}
		for example := range strings.SplitSeq(strings.TrimSuffix(text, "."), ", or ") {
			examples++
			var value any
			if err := yaml.Unmarshal([]byte(example), &value); err != nil {
				t.Errorf("%s: its example can't be read: %v", path, err)
			} else if errs := validation.ValidateCustomResource(nil, value, validator); len(errs) > 0 {
				t.Errorf("%s: its example is refused: %v", path, errs.ToAggregate())
			} else if unknown := pruning.PruneWithOptions(value, structural, false,
				structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}); len(unknown) > 0 {
				t.Errorf("%s: its example has fields that don't exist: %s", path, unknown)
			}
		}
	})
	if examples < 10 {
		t.Errorf("only %d examples were seen", examples)
	}
}

func TestEveryRuleSaysTheFix(t *testing.T) { ofEachKind(t, everyRuleSaysTheFix) }

func everyRuleSaysTheFix(t *testing.T, root apiextensionsv1.JSONSchemaProps) {
	t.Helper()
	walk("", root, func(path string, s apiextensionsv1.JSONSchemaProps) {
		for _, rule := range s.XValidations {
			if rule.Message == "" {
				t.Errorf("%s: rule %s has no message", path, rule.Rule)
			}
		}
	})
}

func TestEnumsAreTheConstants(t *testing.T) {
	enums(t, crd.LoadTestSuites(), map[string][]string{
		"spec.order":             {string(v1alpha1.OrderShuffled), string(v1alpha1.OrderInterleaved), string(v1alpha1.OrderByCell)},
		"spec.failurePolicy":     {string(v1alpha1.FailureContinue), string(v1alpha1.FailureStop)},
		"status.phase":           phases(),
		"status.table[].verdict": {string(v1alpha1.VerdictPassed), string(v1alpha1.VerdictFailed), string(v1alpha1.VerdictUndecided)},
		"spec.criteria[].metric": metrics(), "spec.criteria[].statistic": statistics(), "spec.criteria[].direction": {string(v1alpha1.DirectionEach), string(v1alpha1.DirectionTotal)},
		"spec.criteria[].observed.scope": {string(v1alpha1.ObservedOfEach), string(v1alpha1.ObservedOfAll)}, "spec.criteria[].observed.statistic": {string(v1alpha1.ObservedMean), string(v1alpha1.ObservedMax)},
		"spec.baseline.allowedDifferences[]": environmentParts(),
	})
	enums(t, crd.LoadTests(), map[string][]string{
		"spec.generator.engine":             {string(v1alpha1.EngineTRex), string(v1alpha1.EngineSoftware)},
		"spec.generator.layout":             {string(v1alpha1.LayoutPaired), string(v1alpha1.LayoutPerLink)},
		"spec.generator.hugepages.pageSize": {"2Mi", "1Gi"},
		"spec.podRetention":                 {string(v1alpha1.PodRetentionNever), string(v1alpha1.PodRetentionOnFailure)},
		"spec.reportRetention":              {string(v1alpha1.ReportWithTest), string(v1alpha1.ReportKeep)},
		"spec.sharedPort":                   {string(v1alpha1.SharedPortRefused), string(v1alpha1.SharedPortAllowed)},
		"status.phase":                      phases(),
		"status.pods[].role":                {string(v1alpha1.RoleGenerator), string(v1alpha1.RoleDUT), string(v1alpha1.RoleVitals), string(v1alpha1.RoleCollector), string(v1alpha1.RoleSetup), string(v1alpha1.RoleTeardown), string(v1alpha1.RoleRunner)},
		"spec.dut.type":                     {string(v1alpha1.DUTPod), string(v1alpha1.DUTReference), string(v1alpha1.DUTDevice), string(v1alpha1.DUTLoopback)},
		"spec.dut.changes[]": {string(v1alpha1.ChangeAddresses), string(v1alpha1.ChangeEncapsulation), string(v1alpha1.ChangeVLAN),
			string(v1alpha1.ChangeLength)},
		"spec.dut.role":                          {string(v1alpha1.RoleForwarder), string(v1alpha1.RoleEndpoint)},
		"spec.dut.reference.mode.tunnel.kind":    {string(v1alpha1.TunnelWireGuard), string(v1alpha1.TunnelIPsec)},
		"spec.dut.reference.mode.tunnel.cipher":  {string(v1alpha1.TunnelAES128GCM), string(v1alpha1.TunnelAES256GCM), string(v1alpha1.TunnelAES256CBC), string(v1alpha1.TunnelChaCha20)},
		"spec.dut.reference.mode.userspace.kind": {string(v1alpha1.UserspaceTestpmd)},
		"spec.dut.forwarding":                    {string(v1alpha1.ForwardingL3), string(v1alpha1.ForwardingL2), string(v1alpha1.ForwardingMACRewrite)},
		"spec.traffic.type":                      {string(v1alpha1.TrafficFrames), string(v1alpha1.TrafficSessions)},
		"spec.traffic.sessions.protocol":         {string(v1alpha1.ProtocolTCP), string(v1alpha1.ProtocolUDP)},
		"spec.traffic.sessions.application":      {string(v1alpha1.ApplicationIperf3), string(v1alpha1.ApplicationIperf2)},
		"spec.traffic.stamps":                    {string(v1alpha1.StampsNone), string(v1alpha1.StampsEveryFrame)},
		"spec.traffic.profile":                   {string(v1alpha1.ProfileIMIX), string(v1alpha1.ProfileFixedSize), string(v1alpha1.ProfileMix), string(v1alpha1.ProfileStreams), string(v1alpha1.ProfilePCAP)},
		"spec.traffic.flows.fields[]":            {string(v1alpha1.VarySourceAddress), string(v1alpha1.VaryDestinationAddress), string(v1alpha1.VarySourcePort), string(v1alpha1.VaryDestinationPort)},
		"spec.traffic.flows.order":               {string(v1alpha1.FlowsSequential), string(v1alpha1.FlowsRandom)},
		"spec.generator.software.path":           {string(v1alpha1.PathLive), string(v1alpha1.PathAFXDP), string(v1alpha1.PathAFPacket)},
		"spec.procedure.search.classification":   {string(v1alpha1.ClassifyRFC9971), string(v1alpha1.ClassifySequential)},
		"spec.procedure.search.preset":           {string(v1alpha1.PresetRFC2544), string(v1alpha1.PresetTST009)},
		"spec.procedure.type": {string(v1alpha1.ProcedureRamp), string(v1alpha1.ProcedureConstantLoad), string(v1alpha1.ProcedureFrameLoss), string(v1alpha1.ProcedureMaximumOfferedLoad), string(v1alpha1.ProcedureSearch),
			string(v1alpha1.ProcedureBackToBack), string(v1alpha1.ProcedureSoak), string(v1alpha1.ProcedureTrains)},
		"spec.procedure.directions":          {string(v1alpha1.DirectionsTogether), string(v1alpha1.DirectionsEach)},
		"spec.baseline.allowedDifferences[]": environmentParts(),
		"spec.criteria[].metric":             metrics(), "spec.criteria[].statistic": statistics(), "spec.criteria[].direction": {string(v1alpha1.DirectionEach), string(v1alpha1.DirectionTotal)},
		"spec.criteria[].observed.scope": {string(v1alpha1.ObservedOfEach), string(v1alpha1.ObservedOfAll)}, "spec.criteria[].observed.statistic": {string(v1alpha1.ObservedMean), string(v1alpha1.ObservedMax)},
		"spec.observers[].observed": {string(v1alpha1.ObserverOfGenerator), string(v1alpha1.ObserverOfDUT), string(v1alpha1.ObserverOfNode), string(v1alpha1.ObserverOfLab)},
		"spec.observers[].type": {string(v1alpha1.ObserverProcessors), string(v1alpha1.ObserverLimiter), string(v1alpha1.ObserverInterfaces),
			string(v1alpha1.ObserverMemory), string(v1alpha1.ObserverLoad), string(v1alpha1.ObserverSoftIRQs), string(v1alpha1.ObserverFrequencies), string(v1alpha1.ObserverTemperatures),
			string(v1alpha1.ObserverPrometheus), string(v1alpha1.ObserverSNMP), string(v1alpha1.ObserverRedfish), string(v1alpha1.ObserverSSH),
			string(v1alpha1.ObserverIPMI), string(v1alpha1.ObserverVPP)},
		"spec.dut.collect[].when[]": {string(v1alpha1.CollectBefore), string(v1alpha1.CollectDuring), string(v1alpha1.CollectAfter)},
	})
}

func statistics() []string {
	return []string{string(v1alpha1.StatisticMedian), string(v1alpha1.StatisticWorst), string(v1alpha1.StatisticSpread)}
}

func phases() []string {
	return []string{string(v1alpha1.PhaseWaiting), string(v1alpha1.PhaseStarting), string(v1alpha1.PhaseRunning), string(v1alpha1.PhaseEnding),
		string(v1alpha1.PhaseSuspended), string(v1alpha1.PhaseMeasured), string(v1alpha1.PhaseStopped), string(v1alpha1.PhaseFailed)}
}

func metrics() []string {
	return []string{string(v1alpha1.MetricLineRatePercent), string(v1alpha1.MetricPacketsPerSecond), string(v1alpha1.MetricLayer1BitsPerSecond),
		string(v1alpha1.MetricLayer2BitsPerSecond), string(v1alpha1.MetricLossRatio), string(v1alpha1.MetricGoodputBitsPerSecond), string(v1alpha1.MetricRetransmitRatio),
		string(v1alpha1.MetricRoundTripMicroseconds), string(v1alpha1.MetricDatagramLossRatio), string(v1alpha1.MetricJitterMicroseconds),
		string(v1alpha1.MetricBackToBackFrames), string(v1alpha1.MetricBufferFrames), string(v1alpha1.MetricBufferMicroseconds), string(v1alpha1.MetricTimePerFrame),
		string(v1alpha1.MetricLatencyP50), string(v1alpha1.MetricLatencyP90), string(v1alpha1.MetricLatencyP99), string(v1alpha1.MetricLatencyP999), string(v1alpha1.MetricLatencyP9999),
		string(v1alpha1.MetricLatencyP99999), string(v1alpha1.MetricLatencyMax), string(v1alpha1.MetricLatencyJitter), string(v1alpha1.MetricObserved)}
}

// environmentParts are what a Report calls them.
func environmentParts() (parts []string) {
	for _, part := range report.PartsToAllow() {
		parts = append(parts, string(part))
	}
	return parts
}

// enums checks that the enums of a schema are these and no others.
func enums(t *testing.T, text []byte, want map[string][]string) {
	t.Helper()
	walk("", rootSchema(t, text), func(path string, s apiextensionsv1.JSONSchemaProps) {
		if s.Enum == nil {
			return
		}
		var got []string
		for _, raw := range s.Enum {
			var value string
			if err := json.Unmarshal(raw.Raw, &value); err != nil {
				t.Fatal(err)
			}
			got = append(got, value)
		}
		if !slices.Equal(got, want[path]) {
			t.Errorf("%s takes %s, the constants are %s", path, got, want[path])
		}
		delete(want, path)
	})
	for path := range want {
		t.Errorf("%s is no enum", path)
	}
}

// A field without a rule about changes could be changed at any time: each new one must be decided upon.
func TestEveryFieldOfTheSpecEitherStaysOrMayChange(t *testing.T) {
	t.Run("LoadTest", func(t *testing.T) {
		staysOrMayChange(t, crd.LoadTests(), "suspend", "stop", "activeDeadline", "schedulingDeadline", "ttlAfterFinished", "podRetention", "reportRetention")
	})
	t.Run("LoadTestSuite", func(t *testing.T) {
		staysOrMayChange(t, crd.LoadTestSuites(), "suspend", "stop", "parallelism", "ttlAfterFinished", "historyLimit")
	})
}

// staysOrMayChange wants a rule of its own for each field that stays, and for one that may be absent also a rule of the
// spec: a field's own rule isn't evaluated where the field is added or removed.
func staysOrMayChange(t *testing.T, text []byte, mayChange ...string) {
	t.Helper()
	spec := rootSchema(t, text).Properties["spec"]
	for name, property := range spec.Properties {
		stays := slices.ContainsFunc(property.XValidations, func(r apiextensionsv1.ValidationRule) bool {
			return strings.HasPrefix(r.Message, name+" can't be changed: ") && strings.Contains(r.Rule, "oldSelf")
		})
		if stays == slices.Contains(mayChange, name) {
			t.Errorf("%s: a rule keeps it as it is: %v", name, stays)
		}
		absent := !slices.Contains(spec.Required, name) && property.Default == nil
		kept := slices.ContainsFunc(spec.XValidations, func(r apiextensionsv1.ValidationRule) bool {
			return strings.Contains(r.Rule, "has(self."+name+") == has(oldSelf."+name+")")
		})
		if stays && absent && !kept {
			t.Errorf("%s: no rule keeps it from being added or removed", name)
		}
	}
}
