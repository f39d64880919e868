package hip

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"rocstress/harness/sched"
	"rocstress/rocm"
)

// compiler turns kernels into code objects.
type compiler struct {
	rtc *rtcLib
	// comgr says which architectures hiprtc survives. Nil for a test ABI,
	// whose compiler is not AMD's.
	comgr *comgrLib
}

// lazyCompiler is a compiler that its first user loads. Most runs need none,
// and most hosts that lack hiprtc can do without.
type lazyCompiler struct {
	mu sync.Mutex
	c  *compiler // guarded by mu; nil until it was loaded
}

// get loads the compiler of rt. A failure is not remembered.
func (l *lazyCompiler) get(s search, rt *hipLib) (*compiler, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.c != nil {
		return l.c, nil
	}
	c, err := s.loadCompiler(rt)
	if err != nil {
		return nil, err
	}
	l.c = c
	return c, nil
}

func (s search) loadCompiler(rt *hipLib) (*compiler, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c := &compiler{}
	var err error
	if c.rtc, err = s.loadRTC(rt); err != nil {
		return nil, err
	}
	if rt.label == "" {
		c.comgr, err = s.loadComgr(rt)
	}
	return c, err
}

func (c *compiler) status(fn rtcFn, code int) error {
	if code == 0 {
		return nil
	}
	return &rocm.StatusError{API: "hiprtc", Call: rtcSymbols[fn].name, Code: code, Name: rtcResultName(code)}
}

// compile returns the code object of k for arch, a gcnArchName.
//
// Errors: ErrUnknownArch; a *rocm.StatusError, with what the compiler said if
// it was the compilation that failed.
func (c *compiler) compile(th *sched.Thread, k *rocm.Kernel, arch string) (code []byte, err error) {
	if c.comgr != nil {
		if err := c.comgr.knows(arch); err != nil {
			return nil, err
		}
	}
	source, name := cString(k.Source), cString(k.Name+".hip")
	var prog uintptr
	if err := c.status(fnCreateProgram, call(c.rtc.fn[fnCreateProgram], uintptr(unsafe.Pointer(&prog)),
		uintptr(unsafe.Pointer(&source[0])), uintptr(unsafe.Pointer(&name[0])), 0, 0, 0)); err != nil {
		return nil, err
	}
	defer func() {
		destroyed := c.status(fnDestroyProgram, call(c.rtc.fn[fnDestroyProgram], uintptr(unsafe.Pointer(&prog))))
		if err == nil {
			err = destroyed
		}
	}()
	option := cString("--offload-arch=" + arch)
	options := []unsafe.Pointer{unsafe.Pointer(&option[0])}
	th.Point(PointCompile)
	result := call(c.rtc.fn[fnCompileProgram], prog, uintptr(len(options)), uintptr(unsafe.Pointer(&options[0])))
	runtime.KeepAlive(options)
	log, err := c.log(prog)
	if err != nil {
		return nil, err
	}
	if failed := c.verdict(result, log); failed != nil {
		return nil, fmt.Errorf("kernel %s for %s: %w%s", k.Name, arch, failed, quoted(log))
	}
	return c.code(prog)
}

// rtcErrorCompilation is HIPRTC_ERROR_COMPILATION of hiprtc.h.
const rtcErrorCompilation = 6

// verdict is the failure of a compilation. A log with an error fails it though
// the call succeeded: for gfx9-generic, 6.4 returns 0 and code, and says
// "error: cannot find ROCm device library".
func (c *compiler) verdict(result int, log string) error {
	if result == 0 && strings.Contains(log, "error:") {
		result = rtcErrorCompilation
	}
	return c.status(fnCompileProgram, result)
}

// log returns what the compiler said.
func (c *compiler) log(prog uintptr) (string, error) {
	var size uint64 // size_t
	if err := c.status(fnGetProgramLogSize, call(c.rtc.fn[fnGetProgramLogSize], prog, uintptr(unsafe.Pointer(&size)))); err != nil {
		return "", err
	}
	if size == 0 {
		return "", nil
	}
	buf := make([]byte, size)
	err := c.status(fnGetProgramLog, call(c.rtc.fn[fnGetProgramLog], prog, uintptr(unsafe.Pointer(&buf[0]))))
	return textIn(buf), err
}

func (c *compiler) code(prog uintptr) ([]byte, error) {
	var size uint64 // size_t
	if err := c.status(fnGetCodeSize, call(c.rtc.fn[fnGetCodeSize], prog, uintptr(unsafe.Pointer(&size)))); err != nil {
		return nil, err
	}
	if size == 0 {
		return nil, fmt.Errorf("%s succeeded and made no code", rtcSymbols[fnCompileProgram].name)
	}
	buf := make([]byte, size)
	return buf, c.status(fnGetCode, call(c.rtc.fn[fnGetCode], prog, uintptr(unsafe.Pointer(&buf[0]))))
}

// maxLog bounds the compiler's log in an error. The first messages are at its
// start; what follows is mostly of their making.
const maxLog = 4 << 10

// quoted is a log as the end of an error.
func quoted(log string) string {
	log = strings.TrimSpace(log)
	switch {
	case log == "":
		return "; the compiler said nothing"
	case len(log) > maxLog:
		return fmt.Sprintf("; the compiler said:\n%s\n(%d more bytes)", strings.ToValidUTF8(log[:maxLog], ""), len(log)-maxLog)
	}
	return "; the compiler said:\n" + log
}

// cString returns s with the zero that ends it in C.
func cString(s string) []byte { return append([]byte(s), 0) }
