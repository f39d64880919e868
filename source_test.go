package rocstress

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// sourceFile is one parsed file of this module.
type sourceFile struct {
	path string // slash-separated, from the root
	fset *token.FileSet
	ast  *ast.File
}

func (f sourceFile) at(n ast.Node) string {
	return fmt.Sprintf("%s:%d", f.path, f.fset.Position(n.Pos()).Line)
}

func parseText(t *testing.T, path, text string) sourceFile {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, path, text, parser.SkipObjectResolution)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return sourceFile{path: path, fset: fset, ast: f}
}

// parseTree parses every Go file below dir; tests only where asked for.
func parseTree(t *testing.T, dir string, tests bool) []sourceFile {
	t.Helper()
	g := NewWithT(t)
	var files []sourceFile
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && d.Name() != "." {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || !tests && strings.HasSuffix(path, "_test.go") {
			return nil
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, sourceFile{path: filepath.ToSlash(path), fset: fset, ast: f})
		return nil
	})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(files).NotTo(BeEmpty(), "no source below %s", dir)
	return files
}

// offSeam lists what code on the seam may not use, by package, with what it
// uses instead. An empty name bans the whole package.
var offSeam = map[string][]string{
	"sync":    {"Mutex", "RWMutex", "Cond", "NewCond", "WaitGroup", "Once", "OnceFunc", "OnceValue", "OnceValues", "Map", "Pool"},
	"time":    {"Sleep", "Now", "Since", "Until", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick"},
	"runtime": {"Gosched", "LockOSThread", "UnlockOSThread"},
}

// seamViolations returns a line for everything in f that a controlled
// schedule could not see.
func seamViolations(f sourceFile) []string {
	var bad []string
	found := func(n ast.Node, what string) {
		bad = append(bad, fmt.Sprintf("%s: %s is off the seam; use harness/sched", f.at(n), what))
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found(n, "go statement")
		case *ast.ChanType:
			found(n, "channel")
		case *ast.SendStmt:
			found(n, "channel send")
		case *ast.SelectStmt:
			found(n, "select")
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				found(n, "channel receive")
			}
		case *ast.SelectorExpr:
			if pkg, ok := n.X.(*ast.Ident); ok && slices.Contains(offSeam[pkg.Name], n.Sel.Name) {
				found(n, pkg.Name+"."+n.Sel.Name)
			}
		}
		return true
	})
	return bad
}

func onSeam(path string) bool {
	dir := filepath.ToSlash(filepath.Dir(path))
	return dir == "rocm" || dir == "rocm/sim" || strings.HasPrefix(dir, "rocm/sim/")
}

func TestProtocolStaysOnTheSeam(t *testing.T) {
	for _, f := range parseTree(t, "rocm", false) {
		if onSeam(f.path) {
			for _, v := range seamViolations(f) {
				t.Error(v)
			}
		}
	}
}

func TestSeamRuleNotices(t *testing.T) {
	g := NewWithT(t)
	f := parseText(t, "rocm/planted.go", `package rocm
import ("sync"; "time"; "runtime")
var mu sync.Mutex
func f(c chan int) {
	go f(nil)
	time.Sleep(1)
	runtime.Gosched()
	c <- 1
	<-c
	select {}
}`)
	g.Expect(seamViolations(f)).To(ConsistOf(
		ContainSubstring("sync.Mutex"), ContainSubstring("channel is"), ContainSubstring("go statement"),
		ContainSubstring("time.Sleep"), ContainSubstring("runtime.Gosched"), ContainSubstring("send"),
		ContainSubstring("receive"), ContainSubstring("select")))
	g.Expect(seamViolations(parseText(t, "rocm/fine.go", `package rocm
import "time"
const d = time.Millisecond
func f(th *sched.Thread, mu *sched.Mutex) { mu.Lock(th); th.Sleep(d) }`))).To(BeEmpty())
}

// blasViolations returns a line for every use of rocBLAS outside the lease:
// the seeds' grep, over the syntax tree. Only the Device calls the library's
// methods, and only a driver names its symbols.
func blasViolations(f sourceFile) []string {
	dir := filepath.ToSlash(filepath.Dir(f.path))
	callers := dir == "rocm" || dir == "rocm/sim" || dir == "rocm/hip" || dir == "rocm/conformance"
	var bad []string
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			switch n.Sel.Name {
			case "RocBLASCreateHandle", "RocBLASDestroyHandle", "RocBLASSetStream", "RocBLASSgemm", "RocBLASGemmEx":
				if !callers {
					bad = append(bad, fmt.Sprintf("%s: %s outside a lease; use rocm.Device", f.at(n), n.Sel.Name))
				}
			}
		case *ast.BasicLit:
			text, err := strconv.Unquote(n.Value)
			if err == nil && n.Kind == token.STRING && strings.HasPrefix(text, "rocblas_") &&
				!strings.HasPrefix(text, "rocblas_status_") && !strings.ContainsAny(text, " .") && !callers {
				bad = append(bad, fmt.Sprintf("%s: names the symbol %s; only a driver does", f.at(n), text))
			}
		}
		return true
	})
	return bad
}

func TestRocBLASIsReachedThroughTheLease(t *testing.T) {
	for _, f := range parseTree(t, ".", false) {
		for _, v := range blasViolations(f) {
			t.Error(v)
		}
	}
}

func TestRocBLASRuleNotices(t *testing.T) {
	g := NewWithT(t)
	g.Expect(blasViolations(parseText(t, "scenarios/planted.go", `package scenarios
func f() { drv.RocBLASSgemm(th, h, g); purego.Dlsym(lib, "rocblas_sgemm") }`))).To(ConsistOf(
		ContainSubstring("RocBLASSgemm outside a lease"), ContainSubstring("rocblas_sgemm")))
	g.Expect(blasViolations(parseText(t, "rocm/hip/blas.go", `package hip
var s = "rocblas_sgemm"`))).To(BeEmpty())
}

// driverMethods returns the methods of the interfaces in rocm/driver.go whose
// last result is an error.
func driverMethods(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, f := range parseTree(t, filepath.Join("rocm", "driver.go"), false) {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			iface, ok := n.(*ast.InterfaceType)
			if !ok {
				return true
			}
			for _, m := range iface.Methods.List {
				sig, ok := m.Type.(*ast.FuncType)
				if !ok || sig.Results == nil || len(m.Names) == 0 {
					continue
				}
				last, ok := sig.Results.List[len(sig.Results.List)-1].Type.(*ast.Ident)
				if ok && last.Name == "error" {
					names = append(names, m.Names[0].Name)
				}
			}
			return true
		})
	}
	return names
}

// droppedStatuses returns a line for every call of a Driver method in f whose
// status nobody looks at. Close is told from other Closes by its receiver.
func droppedStatuses(f sourceFile, methods []string) []string {
	isDriverCall := func(e ast.Expr) (string, bool) {
		call, ok := e.(*ast.CallExpr)
		if !ok {
			return "", false
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || !slices.Contains(methods, sel.Sel.Name) {
			return "", false
		}
		if sel.Sel.Name == "Close" || sel.Sel.Name == "Load" || sel.Sel.Name == "Store" {
			return sel.Sel.Name, receiverName(sel.X) == "drv" || receiverName(sel.X) == "Driver"
		}
		return sel.Sel.Name, true
	}
	var bad []string
	report := func(n ast.Node, e ast.Expr) {
		if name, ok := isDriverCall(e); ok {
			bad = append(bad, fmt.Sprintf("%s: the status of %s is dropped", f.at(n), name))
		}
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ExprStmt:
			report(n, n.X)
		case *ast.DeferStmt:
			report(n, n.Call)
		case *ast.GoStmt:
			report(n, n.Call)
		case *ast.AssignStmt:
			if last, ok := n.Lhs[len(n.Lhs)-1].(*ast.Ident); ok && last.Name == "_" && len(n.Rhs) == 1 {
				report(n, n.Rhs[0])
			}
		}
		return true
	})
	return bad
}

func receiverName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

func TestNoDriverStatusIsDropped(t *testing.T) {
	methods := driverMethods(t)
	NewWithT(t).Expect(methods).To(ContainElements("RocBLASSgemm", "StreamSynchronize", "Free", "Close"))
	for _, dir := range []string{"rocm", "scenarios", "cmd"} {
		for _, f := range parseTree(t, dir, false) {
			for _, v := range droppedStatuses(f, methods) {
				t.Error(v)
			}
		}
	}
}

func TestDroppedStatusRuleNotices(t *testing.T) {
	g := NewWithT(t)
	f := parseText(t, "scenarios/planted.go", `package scenarios
func f() {
	drv.StreamSynchronize(th, s)
	_ = drv.Free(th, p)
	p, _ := drv.Malloc(th, 4)
	defer env.Driver.Close(th)
	defer file.Close()
	if err := drv.Free(th, p); err != nil { return }
}`)
	g.Expect(droppedStatuses(f, driverMethods(t))).To(ConsistOf(
		ContainSubstring("StreamSynchronize"), ContainSubstring("Free"), ContainSubstring("Malloc"), ContainSubstring("Close")))
}
