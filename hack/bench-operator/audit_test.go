package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

const auditLines = `
{"stage":"ResponseComplete","verb":"create","requestURI":"/api/v1/namespaces/lab/pods?dryRun=All","user":{"username":"system:serviceaccount:linerate-system:linerate-manager"},"objectRef":{"resource":"pods","namespace":"lab"},"responseStatus":{"code":201},"requestReceivedTimestamp":"2026-03-01T12:01:00.000000Z","stageTimestamp":"2026-03-01T12:01:00.030000Z"}
{"stage":"ResponseComplete","verb":"create","requestURI":"/api/v1/namespaces/lab/pods","user":{"username":"system:serviceaccount:linerate-system:linerate-manager"},"objectRef":{"resource":"pods","namespace":"lab"},"responseStatus":{"code":201},"requestReceivedTimestamp":"2026-03-01T12:01:01.000000Z","stageTimestamp":"2026-03-01T12:01:01.020000Z"}
{"stage":"ResponseComplete","verb":"create","requestURI":"/api/v1/namespaces/lab/pods","user":{"username":"system:serviceaccount:linerate-system:linerate-manager"},"objectRef":{"resource":"pods","namespace":"lab"},"responseStatus":{"code":409},"requestReceivedTimestamp":"2026-03-01T12:01:02.000000Z","stageTimestamp":"2026-03-01T12:01:02.010000Z"}
{"stage":"ResponseComplete","verb":"list","requestURI":"/api/v1/pods","user":{"username":"system:serviceaccount:linerate-system:linerate-manager"},"objectRef":{"resource":"pods"},"responseStatus":{"code":200},"requestReceivedTimestamp":"2026-03-01T11:59:59.000000Z","stageTimestamp":"2026-03-01T11:59:59.100000Z"}
{"stage":"ResponseStarted","verb":"watch","requestURI":"/api/v1/pods?watch=true","user":{"username":"system:serviceaccount:linerate-system:linerate-manager"},"objectRef":{"resource":"pods"},"responseStatus":{"code":200},"requestReceivedTimestamp":"2026-03-01T12:01:03.000000Z","stageTimestamp":"2026-03-01T12:01:03.001000Z"}
{"stage":"ResponseComplete","verb":"watch","requestURI":"/api/v1/pods?watch=true","user":{"username":"system:serviceaccount:linerate-system:linerate-manager"},"objectRef":{"resource":"pods"},"responseStatus":{"code":200},"requestReceivedTimestamp":"2026-03-01T12:01:03.000000Z","stageTimestamp":"2026-03-01T12:01:30.000000Z"}
{"stage":"ResponseComplete","verb":"update","requestURI":"/api/v1/namespaces/linerate-system/configmaps/a-progress","user":{"username":"system:serviceaccount:linerate-system:linerate-runner"},"objectRef":{"resource":"configmaps","namespace":"linerate-system"},"responseStatus":{"code":200},"requestReceivedTimestamp":"2026-03-01T12:01:04.000000Z","stageTimestamp":"2026-03-01T12:01:04.005000Z"}
{"stage":"ResponseComplete","verb":"update","requestURI":"/apis/batch/v1/namespaces/jobs/jobs/a/status","user":{"username":"system:kube-controller-manager"},"objectRef":{"resource":"jobs","subresource":"status","namespace":"jobs"},"responseStatus":{"code":200},"requestReceivedTimestamp":"2026-03-01T12:00:04.000000Z","stageTimestamp":"2026-03-01T12:00:04.005000Z"}
{"stage":"ResponseComplete","verb":"update","requestURI":"/apis/batch/v1/namespaces/jobs/jobs/a/status","user":{"username":"system:kube-controller-manager"},"objectRef":{"resource":"jobs","subresource":"status","namespace":"jobs"},"responseStatus":{"code":200},"requestReceivedTimestamp":"2026-03-01T12:01:04.000000Z","stageTimestamp":"2026-03-01T12:01:04.005000Z"}
{"stage":"ResponseComplete","verb":"list","requestURI":"/api/v1/secrets","user":{"username":"admin"},"objectRef":{"resource":"secrets"},"responseStatus":{"code":200},"requestReceivedTimestamp":"2026-03-01T12:01:04.000000Z","stageTimestamp":"2026-03-01T12:01:04.005000Z"}
`

// Each is counted for who made it, once, while it was its turn.
func TestRequestsAreCountedFromTheAuditLog(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	jobs, tests := carried{firstApplied: noon, quiet: noon.Add(30 * time.Second)}, carried{firstApplied: noon.Add(time.Minute), quiet: noon.Add(2 * time.Minute)}
	file := filepath.Join(t.TempDir(), "audit.log")
	if err := os.WriteFile(file, []byte(auditLines[1:]), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := readAudit(file, jobs, tests)
	if err != nil {
		t.Fatal(err)
	}
	wants := map[request]struct {
		requests, refused int
		longest           time.Duration
	}{
		{byManager, "create pods (dry run)"}: {1, 0, 30 * time.Millisecond},
		{byManager, "create pods"}:           {2, 1, 20 * time.Millisecond},
		{byManager, "watch pods"}:            {1, 0, time.Millisecond},
		{byRunners, "update configmaps"}:     {1, 0, 5 * time.Millisecond},
		{forJobs, "update jobs/status"}:      {1, 0, 5 * time.Millisecond},
	}
	for kind, want := range wants {
		if a := r[kind]; a == nil || len(a.took) != want.requests || a.refused != want.refused || quantile(a.took, 1) != want.longest {
			t.Errorf("%s: %s: %+v, want %+v", kind.actor, kind.action, a, want)
		}
	}
	if len(r) != len(wants) || r.countBy(byManager) != 4 || r.countBy(byRunners) != 1 {
		t.Errorf("%d kinds, %d of the manager's: %v", len(r), r.countBy(byManager), r)
	}
}

func TestALogThatIsNoAuditLogIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "audit.log")
	if err := os.WriteFile(file, []byte("nothing of the kind\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err := readAudit(file, carried{}, carried{}); err == nil {
		t.Errorf("it is read as %v", r)
	}
}
