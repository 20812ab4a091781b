/* The inner loops of the workloads in plain C, to hold ours against: cc -O2. Prints CPU seconds of the loop named.
   Written for this comparison; each does the same work on the same sizes as bench/workloads.py. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void *room(size_t bytes)
{
    void *p = calloc(bytes, 1);
    if (!p) exit(3);
    return p;
}

static uint64_t state = 314159265;
static const uint64_t mask = (1ull << 46) - 1;
static double uniform(void)
{
    state = state * 1220703125ull & mask;
    return (double)state * 0x1p-46;
}

/* 2^22 pairs. */
static double pairs(int times)
{
    double sx = 0, sy = 0, counts[10] = {0};
    double begin = cpu();
    for (int n = 0; n < times; n++)
        for (int i = 0; i < 1 << 22; i++) {
            double x = 2 * uniform() - 1, y = 2 * uniform() - 1, t = x * x + y * y;
            if (t > 1) continue;
            double f = sqrt(-2 * log(t) / t);
            x *= f, y *= f;
            sx += x, sy += y;
            counts[(int)fmax(fabs(x), fabs(y))]++;
        }
    double spent = cpu() - begin;
    fprintf(stderr, "%g %g %g\n", sx, sy, counts[0]);
    return spent;
}

/* 2^22 keys below 2^19: histogram of 2^10 buckets, distribution, ranks. */
static double keys(int times)
{
    int count = 1 << 22;
    int *key = room(4 * count), *out = room(4 * count), *ranks = room(4 << 19);
    for (int i = 0; i < count; i++)
        key[i] = (1 << 17) * (uniform() + uniform() + uniform() + uniform());
    double begin = cpu();
    for (int n = 0; n < times; n++) {
        int next[1025] = {0};
        memset(ranks, 0, 4 << 19);
        for (int i = 0; i < count; i++) next[(key[i] >> 9) + 1]++;
        for (int b = 0; b < 1024; b++) next[b + 1] += next[b];
        for (int i = 0; i < count; i++) out[next[key[i] >> 9]++] = key[i];
        for (int i = 0; i < count; i++) ranks[out[i]]++;
    }
    double spent = cpu() - begin;
    fprintf(stderr, "%d %d\n", out[0], ranks[1 << 18]);
    return spent;
}

/* 14000 rows of 132 entries. */
static double sparse(int times)
{
    int rows = 14000, each = 132;
    int *starts = room(4 * (rows + 1)), *columns = room(4l * rows * each);
    double *values = room(8l * rows * each), *x = room(8 * rows), *y = room(8 * rows);
    for (int i = 0; i <= rows; i++) starts[i] = i * each;
    for (int i = 0; i < rows * each; i++) columns[i] = rows * uniform(), values[i] = uniform();
    for (int i = 0; i < rows; i++) x[i] = 1;
    double begin = cpu();
    for (int n = 0; n < times; n++)
        for (int i = 0; i < rows; i++) {
            double sum = 0;
            for (int k = starts[i]; k < starts[i + 1]; k++) sum += values[k] * x[columns[k]];
            y[i] = sum;
        }
    double spent = cpu() - begin;
    fprintf(stderr, "%g\n", y[7]);
    return spent;
}

#define N 130
#define AT(z, y, x) (((long)(z) * N + (y)) * N + (x))

/* A stencil of 27 points on 128^3, sums along rows shared. */
static double stencil(int times)
{
    double *u = room(8l * N * N * N), *r = room(8l * N * N * N), u1[N], u2[N];
    for (long i = 0; i < (long)N * N * N; i++) u[i] = uniform();
    double begin = cpu();
    for (int n = 0; n < times; n++)
        for (int z = 1; z < N - 1; z++)
            for (int y = 1; y < N - 1; y++) {
                for (int x = 0; x < N; x++) {
                    u1[x] = u[AT(z, y - 1, x)] + u[AT(z, y + 1, x)] + u[AT(z - 1, y, x)] + u[AT(z + 1, y, x)];
                    u2[x] = u[AT(z - 1, y - 1, x)] + u[AT(z - 1, y + 1, x)] + u[AT(z + 1, y - 1, x)]
                        + u[AT(z + 1, y + 1, x)];
                }
                for (int x = 1; x < N - 1; x++)
                    r[AT(z, y, x)] += -0.375 * u[AT(z, y, x)]
                        + 0.03125 * (u[AT(z, y, x - 1)] + u[AT(z, y, x + 1)] + u1[x])
                        - 0.015625 * (u2[x] + u1[x - 1] + u1[x + 1]) + 0.001 * (u2[x - 1] + u2[x + 1]);
            }
    double spent = cpu() - begin;
    fprintf(stderr, "%g\n", r[AT(5, 5, 5)]);
    return spent;
}

typedef struct { double re, im; } complex_;

/* Radix 2, decimation in frequency, self-sorting (Stockham). */
static void fft(int n, complex_ *a, complex_ *b, const complex_ *roots, int all)
{
    complex_ *from = a, *to = b;
    for (int half = n / 2, stride = 1; half >= 1; half /= 2, stride *= 2) {
        for (int p = 0; p < half; p++) {
            complex_ w = roots[p * (all / (2 * half))];
            for (int q = 0; q < stride; q++) {
                complex_ c = from[q + stride * p], d = from[q + stride * (p + half)];
                complex_ e = {c.re - d.re, c.im - d.im};
                to[q + stride * 2 * p] = (complex_){c.re + d.re, c.im + d.im};
                to[q + stride * (2 * p + 1)] = (complex_){e.re * w.re - e.im * w.im, e.re * w.im + e.im * w.re};
            }
        }
        complex_ *swap = from;
        from = to, to = swap;
    }
    if (from != a) memcpy(a, from, n * sizeof *a);
}

/* 64 planes of 128 x 128. */
static double planes(int times)
{
    int n = 128;
    complex_ *u = room(64l * n * n * sizeof *u), line[128], other[128], roots[128];
    for (int i = 0; i < n; i++) roots[i] = (complex_){cos(2 * M_PI * i / n), -sin(2 * M_PI * i / n)};
    for (long i = 0; i < 64l * n * n; i++) u[i] = (complex_){uniform(), uniform()};
    double begin = cpu();
    for (int t = 0; t < times; t++)
        for (int plane = 0; plane < 64; plane++) {
            complex_ *a = u + (long)plane * n * n;
            for (int y = 0; y < n; y++) fft(n, a + y * n, other, roots, n);
            for (int x = 0; x < n; x++) {
                for (int y = 0; y < n; y++) line[y] = a[y * n + x];
                fft(n, line, other, roots, n);
                for (int y = 0; y < n; y++) a[y * n + x] = line[y];
            }
            for (long i = 0; i < (long)n * n; i++) a[i].re *= 1e-3, a[i].im *= 1e-3;
        }
    double spent = cpu() - begin;
    fprintf(stderr, "%g\n", u[5].re);
    return spent;
}

/* Both colours of 1000 x 1000. */
static double relax(int times)
{
    int n = 1000;
    double *u = room(8l * n * n), largest = 0;
    for (int i = 0; i < n; i++) u[i] = 1;
    double begin = cpu();
    for (int t = 0; t < times; t++)
        for (int colour = 0; colour < 2; colour++)
            for (int i = 1; i < n - 1; i++)
                for (int j = 1 + (i + 1 + colour) % 2; j < n - 1; j += 2) {
                    double *p = u + (long)i * n + j;
                    double change = 1.9 * (0.25 * (p[-n] + p[n] + p[-1] + p[1]) - *p);
                    *p += change;
                    if (fabs(change) > largest) largest = fabs(change);
                }
    double spent = cpu() - begin;
    fprintf(stderr, "%g %g\n", largest, u[5 * n + 5]);
    return spent;
}

int main(int count, char **argument)
{
    struct { const char *name; double (*run)(int); } all[] = {
        {"pairs", pairs}, {"keys", keys}, {"sparse", sparse}, {"stencil", stencil}, {"planes", planes}, {"relax", relax},
    };
    if (count != 3) return 2;
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        if (!strcmp(argument[1], all[i].name)) {
            printf("%.9f\n", all[i].run(atoi(argument[2])));
            return 0;
        }
    return 2;
}
