/* Whether floating-point registers of a program stay its own: across system calls, faults, signals, threads and a fork. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 2000

/* Sets a register, enters the kernel, and returns what the register then has. */
static uint64_t across(long call, uint64_t value)
{
	uint64_t found;

	__asm__ volatile("movq %2, %%xmm15\n\tsyscall\n\tmovq %%xmm15, %0"
			 : "=r"(found), "+a"(call)
			 : "r"(value)
			 : "rcx", "r11", "xmm15", "memory");
	return found;
}

/* The same with a fault of a page that is new. */
static uint64_t across_fault(volatile char *page, uint64_t value)
{
	uint64_t found;

	__asm__ volatile("movq %1, %%xmm15\n\tmovb $1, (%2)\n\tmovq %%xmm15, %0"
			 : "=r"(found)
			 : "r"(value), "r"(page)
			 : "xmm15", "memory");
	return found;
}

static void on_signal(int number)
{
	__asm__ volatile("movq %0, %%xmm15" : : "r"((uint64_t)number) : "xmm15");
}

static void check(const char *what, uint64_t value, uint64_t found)
{
	if (value != found) {
		printf("%s: %llx, not %llx\n", what, (unsigned long long)found, (unsigned long long)value);
		exit(1);
	}
}

static void *thread(void *number)
{
	for (uint64_t round = 0; round < ROUNDS; round++) {
		uint64_t value = (uint64_t)(uintptr_t)number << 32 | round;

		check("thread", value, across(SYS_sched_yield, value));
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[3];
	int status;
	char *pages = mmap(NULL, ROUNDS * 4096L, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	signal(SIGUSR1, on_signal);
	for (uint64_t round = 0; round < ROUNDS; round++) {
		check("system call", round, across(SYS_getppid, round));
		check("fault", ~round, across_fault(pages + round * 4096, ~round));
	}
	for (uintptr_t number = 0; number < 3; number++)
		pthread_create(&threads[number], NULL, thread, (void *)(number + 1));
	for (int number = 0; number < 3; number++)
		pthread_join(threads[number], NULL);
	for (uint64_t round = 100; round < 200; round++) {
		uint64_t found;

		/* kill(getpid(), SIGUSR1): the handler has changed the register when the call returns. */
		__asm__ volatile("movq %1, %%xmm15\n\tsyscall\n\tmovq %%xmm15, %0"
				 : "=r"(found)
				 : "r"(round), "a"(SYS_kill), "D"(getpid()), "S"(SIGUSR1)
				 : "rcx", "r11", "xmm15", "memory");
		check("signal", round, found);
	}
	for (uint64_t round = 0; round < 20; round++) {
		uint64_t found;
		long pid = SYS_fork;

		__asm__ volatile("movq %2, %%xmm15\n\tsyscall\n\tmovq %%xmm15, %0"
				 : "=r"(found), "+a"(pid)
				 : "r"(round)
				 : "rcx", "r11", "xmm15", "memory");
		check(pid ? "parent" : "child", round, found);
		if (pid == 0)
			_exit(0);
		waitpid(pid, &status, 0);
		if (status)
			return 1;
	}
	printf("kept\n");
	return 0;
}
