// Agent is the first program of an emulated machine once it has its root. It serves SSH, without keys, at the
// machine's own serial port, which only the program that started the machine holds the other end of.
package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/crypto/ssh"
	"golang.org/x/sys/unix"
)

func main() {
	var err error
	if os.Getpid() == 1 {
		err = reap()
	} else {
		err = serve()
	}
	fmt.Println("linerate: agent:", err)
	_ = unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF)
}

// reap serves in a process of its own, and waits for that and for each process that lost its parent.
func reap() error {
	runtime.LockOSThread()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	server, err := os.StartProcess(self, os.Args, &os.ProcAttr{Env: os.Environ(),
		Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}})
	if err != nil {
		return err
	}
	for {
		ended, err := syscall.Wait4(-1, nil, 0, nil)
		if ended == server.Pid || errors.Is(err, unix.ECHILD) {
			return errors.New("the server ended")
		}
	}
}

func serve() error {
	port, err := openPort("linerate")
	if err != nil {
		return err
	}
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	signer, err := ssh.NewSignerFromKey(key)
	if err != nil {
		return err
	}
	config := &ssh.ServerConfig{NoClientAuth: true}
	config.AddHostKey(signer)
	_, channels, requests, err := ssh.NewServerConn(port, config)
	if err != nil {
		return err
	}
	go ssh.DiscardRequests(requests)
	for asked := range channels {
		switch asked.ChannelType() {
		case "session":
			channel, requests, err := asked.Accept()
			if err != nil {
				return err
			}
			go session(channel, requests)
		case "direct-tcpip":
			go forward(asked)
		default:
			_ = asked.Reject(ssh.UnknownChannelType, "the agent runs programs and forwards TCP")
		}
	}
	return errors.New("the host hung up")
}

// serialPort is a device that SSH takes for a connection.
type serialPort struct{ *os.File }

func (serialPort) LocalAddr() net.Addr  { return &net.UnixAddr{Name: "guest", Net: "unix"} }
func (serialPort) RemoteAddr() net.Addr { return &net.UnixAddr{Name: "host", Net: "unix"} }

func openPort(name string) (serialPort, error) {
	files, err := filepath.Glob("/sys/class/virtio-ports/*/name")
	if err != nil {
		return serialPort{}, err
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err == nil && strings.TrimSpace(string(content)) == name {
			device, err := os.OpenFile("/dev/"+filepath.Base(filepath.Dir(file)), os.O_RDWR, 0)
			return serialPort{device}, err
		}
	}
	return serialPort{}, fmt.Errorf("the machine has no serial port %s", name)
}

// session runs one program: env requests set its environment, exec starts it by the shell.
func session(channel ssh.Channel, requests <-chan *ssh.Request) {
	env := []string{"HOME=/root", "USER=root", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
	var program *exec.Cmd
	for request := range requests {
		var ok bool
		switch request.Type {
		case "env":
			var variable struct{ Name, Value string }
			ok = ssh.Unmarshal(request.Payload, &variable) == nil
			env = append(env, variable.Name+"="+variable.Value)
		case "exec":
			var exec struct{ Command string }
			ok = program == nil && ssh.Unmarshal(request.Payload, &exec) == nil
			if ok {
				program = start(channel, exec.Command, env)
			}
		}
		if request.WantReply {
			_ = request.Reply(ok, nil)
		}
	}
	if program != nil && program.Process != nil && program.Process.Signal(unix.SIGKILL) == nil { // the caller has gone
		_ = unix.Kill(-program.Process.Pid, unix.SIGKILL)
	}
}

// start runs the program, and says its exit status when it and all that hold its output have ended.
func start(channel ssh.Channel, command string, env []string) *exec.Cmd {
	program := exec.Command("/bin/sh", "-c", command)
	program.Env = env
	program.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	program.Stdout, program.Stderr = channel, channel.Stderr()
	stdin, err := program.StdinPipe()
	if err == nil {
		err = program.Start()
	}
	if err != nil {
		_, _ = fmt.Fprintln(channel.Stderr(), "linerate: agent:", err)
		finish(channel, 126)
		return program
	}
	go func() { // not by exec.Cmd, which would wait for the end of what nobody reads
		_, _ = io.Copy(stdin, channel)
		_ = stdin.Close()
	}()
	go func() {
		_ = program.Wait()
		status := program.ProcessState.ExitCode()
		if signal, ok := program.ProcessState.Sys().(syscall.WaitStatus); ok && signal.Signaled() {
			status = 128 + int(signal.Signal())
		}
		finish(channel, status)
	}()
	return program
}

func finish(channel ssh.Channel, status int) {
	_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{uint32(status)}))
	_ = channel.Close()
}

// forward joins a connection of the host's to a server in this machine.
func forward(asked ssh.NewChannel) {
	var target struct {
		Host       string
		Port       uint32
		OriginHost string
		OriginPort uint32
	}
	if err := ssh.Unmarshal(asked.ExtraData(), &target); err != nil {
		_ = asked.Reject(ssh.ConnectionFailed, err.Error())
		return
	}
	conn, err := net.Dial("tcp", net.JoinHostPort(target.Host, fmt.Sprint(target.Port)))
	if err != nil {
		_ = asked.Reject(ssh.ConnectionFailed, err.Error())
		return
	}
	defer func() { _ = conn.Close() }()
	channel, requests, err := asked.Accept()
	if err != nil {
		return
	}
	defer func() { _ = channel.Close() }()
	go ssh.DiscardRequests(requests)
	go func() {
		_, _ = io.Copy(conn, channel)
		_ = conn.(*net.TCPConn).CloseWrite()
	}()
	_, _ = io.Copy(channel, conn)
}
