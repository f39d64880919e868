package childproc

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// drainBytes is the size of one read: half a pipe, so that the child fills one
// half while the other is looked at.
const drainBytes = 32 << 10

// restBytes bounds what is read of a pipe that somebody still writes to after
// Run gave up on it: the largest capacity that an unprivileged process can
// give a pipe (fs.pipe-max-size in proc_sys_fs(5)).
const restBytes = 1 << 20

// pipes are the output pipes of one child.
type pipes struct{ r, w []*os.File }

func openPipes(n int) (pipes, error) {
	var p pipes
	for range n {
		r, w, err := os.Pipe()
		if err != nil {
			p.closeReaders()
			p.closeWriters()
			return pipes{}, err
		}
		p.r, p.w = append(p.r, r), append(p.w, w)
	}
	return p, nil
}

func (p pipes) closeReaders() { closeAll(p.r) }
func (p pipes) closeWriters() { closeAll(p.w) }

// closeAll closes pipe ends, which cannot fail in a way that matters.
func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

// drain empties one pipe into sink until end of file, or until stop.
type drain struct {
	r    *os.File
	sink func([]byte)
	end  func()        // called after the last sink
	done chan struct{} // closed when run has returned
}

func (d *drain) run() {
	defer close(d.done)
	defer d.end()
	defer closeAll([]*os.File{d.r})
	buf := make([]byte, drainBytes)
	for {
		n, err := d.r.Read(buf)
		if n > 0 {
			d.sink(buf[:n])
		}
		if err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				d.rest(buf)
			}
			return
		}
	}
}

// stop makes run read what the pipe holds and return, without waiting for end
// of file.
func (d *drain) stop() { _ = d.r.SetReadDeadline(time.Unix(1, 0)) }

// rest reads what is in the pipe right now.
func (d *drain) rest(buf []byte) {
	conn, err := d.r.SyscallConn()
	if err != nil {
		return
	}
	_ = conn.Control(func(fd uintptr) {
		for left := restBytes; left > 0; {
			n, err := unix.Read(int(fd), buf)
			if errors.Is(err, unix.EINTR) {
				continue
			}
			if n <= 0 {
				return
			}
			d.sink(buf[:n])
			left -= n
		}
	})
}

// held reports whether some process holds the write end open, however much
// there is left to read.
func (d *drain) held() bool {
	held := false
	conn, err := d.r.SyscallConn()
	if err != nil {
		return false
	}
	_ = conn.Control(func(fd uintptr) { // fails once run has closed it
		p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(p, 0)
		for errors.Is(err, unix.EINTR) {
			n, err = unix.Poll(p, 0)
		}
		held = err == nil && (n == 0 || p[0].Revents&unix.POLLHUP == 0)
	})
	return held
}
