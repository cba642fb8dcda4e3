package launch

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/host/credential"
)

func TestHeartbeatFromAnythingThatTalksTCP(t *testing.T) {
	beats := make(chan struct{}, 10)
	address := listening(t, Report{Version: ReportVersion}, func() { beats <- struct{}{} })
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	reader := bufio.NewReader(conn)
	if hello, err := reader.ReadString('\n'); err != nil || !strings.Contains(hello, ReportVersion) {
		t.Fatalf("first line %q, %v", hello, err)
	}
	if _, err := conn.Write([]byte("beat\n\nanything\n")); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		<-beats
	}
	if _, err := conn.Write([]byte(strings.Repeat("x", 2*longestBeat))); err != nil {
		t.Fatal(err)
	}
	if _, err := reader.ReadByte(); err == nil {
		t.Error("a line without an end keeps its connection")
	}
	if len(beats) > 0 {
		t.Error("a line without an end is a beat")
	}
}

// Who reaches the launcher and isn't the runner could keep traffic alive whose runner is dead.
func TestAStrangersBeatsKeepNoTrafficAlive(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	key, beats := credential.New(), make(chan struct{}, 100)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- Listen(ctx, key.Verifier().Listen(l, credential.Heartbeat), Report{Version: ReportVersion}, func() { beats <- struct{}{} })
	}()
	stranger, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(stranger, strings.Repeat("beat\n", 20))
	if heard, _ := io.ReadAll(stranger); strings.Contains(string(heard), ReportVersion) {
		t.Errorf("a stranger heard %q", heard)
	}
	if _, err := Connect(t.Context(), l.Addr().String(), key.Derive("attempt 1")); !errors.Is(err, credential.ErrRefused) {
		t.Errorf("the runner of another attempt: %v", err)
	}
	if len(beats) != 0 {
		t.Errorf("%d beats of strangers", len(beats))
	}
	heart, err := Connect(t.Context(), l.Addr().String(), key)
	if err != nil {
		t.Fatal(err)
	}
	if err := heart.Beat(); err != nil {
		t.Fatal(err)
	}
	<-beats
	_, _ = heart.Close(), stranger.Close()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestConnectingToWhatIsNoLauncher(t *testing.T) {
	for name, says := range map[string]string{"another version": `{"version":"v9"}` + "\n", "no JSON": "SSH-2.0\n", "nothing at all": ""} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = l.Close() }()
			go func() {
				conn, err := l.Accept()
				if err == nil {
					_, err = io.WriteString(conn, says)
					_ = errors.Join(err, conn.Close())
				}
			}()
			if _, err := Connect(t.Context(), l.Addr().String(), credential.Key{}); !contains(err, "heartbeat of "+l.Addr().String()) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestWhatCannotBeStarted(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "garbage", "\x00\x01\x02")
	for name, want := range map[string]Code{"garbage": WrongArchitecture, "absent": TRexNotFound} {
		err := Process{Installation: Installation{Directory: dir, Binary: dir + "/" + name}}.Run(t.Context())
		if f, ok := errors.AsType[Fault](err); !ok || f.Code != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}
