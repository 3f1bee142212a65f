// The time of day that a program sees is ahead of that of the machine, by as many seconds as the
// file CLOCK_AHEAD holds: 8 bytes, of which the program sees each change at once.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile long long *ahead;

__attribute__((constructor)) static void open_setting(void) {
	const char *name = getenv("CLOCK_AHEAD");
	int file = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
	if (file < 0)
		return;
	void *setting = mmap(NULL, sizeof *ahead, PROT_READ, MAP_SHARED, file, 0);
	if (setting != MAP_FAILED)
		ahead = setting;
	close(file);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
	int failed = syscall(SYS_clock_gettime, clock, now);
	if (!failed && ahead && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
		now->tv_sec += *ahead;
	return failed;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
	struct timespec precise;
	(void)zone;
	clock_gettime(CLOCK_REALTIME, &precise);
	now->tv_sec = precise.tv_sec;
	now->tv_usec = precise.tv_nsec / 1000;
	return 0;
}

time_t time(time_t *into) {
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	if (into)
		*into = now.tv_sec;
	return now.tv_sec;
}
