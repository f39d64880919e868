package main

import (
	"context"
	"os"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
)

var _ = Describe("a signal", func() {
	It("ends the context once, and the process the second time", func() {
		ch := make(chan os.Signal)
		hard := make(chan struct{})
		ctx, join := onSignals(context.Background(), ch, func() { close(hard) })
		Expect(ctx.Err()).NotTo(HaveOccurred())
		ch <- unix.SIGINT
		Eventually(ctx.Done()).Should(BeClosed())
		Expect(hard).NotTo(BeClosed())
		ch <- unix.SIGTERM
		Eventually(hard).Should(BeClosed())
		join()
	})

	It("that never comes leaves nothing behind", func() {
		ctx, join := onSignals(context.Background(), make(chan os.Signal), func() { Fail("no signal came") })
		join()
		Expect(ctx.Done()).To(BeClosed())
	})
})
