# Writes statistics.csv, what test_statistics.c expects, by R's own functions: Rscript statistics.R >statistics.csv
# Rows: KIND,n,a,result...,x...
#   bh,n,q,0 or 1 for each,p...             p.adjust(p, "BH") <= q
#   p,n,shift,p,x...                        wilcox.test(x, mu = shift, alternative = "greater", exact = TRUE)
#   interval,n,alpha,estimate,low,high,x... wilcox.test(x, conf.int = TRUE, conf.level = 1 - alpha, exact = TRUE)
#   bootstrap,n,alpha,low,high,x...         percentiles of the pseudomedian of 20,000 resamples
suppressWarnings(RNGversion("4.2.0"))
set.seed(1)
line <- function(kind, n, a, ...) cat(paste(c(kind, n, sapply(c(a, ...), function(v) sprintf("%.17g", v))), collapse = ","), "\n", sep = "")

for (k in 1:150) {
    n <- sample(1:40, 1)
    q <- sample(c(0.01, 0.05, 0.1, 0.25), 1)
    p <- ifelse(runif(n) < 0.4, runif(n)^4 * 0.1, runif(n))
    if (k %% 5 == 0) p <- round(p, 2) # ties
    line("bh", n, q, as.numeric(p.adjust(p, "BH") <= q), p)
}
# At the bound itself: p = q i / n for each i, in eighths, which are exact.
line("bh", 4, 0.5, c(1, 1, 1, 1), c(0.125, 0.25, 0.375, 0.5))
line("bh", 4, 0.5, c(0, 0, 0, 0), c(0.1875, 0.3125, 0.4375, 0.5625))

for (k in 1:120) {
    n <- sample(c(5:20, 40, 60), 1)
    x <- rnorm(n, 0.3) * sample(c(1, 0.01), 1)
    shift <- sample(c(0, 0.1, -0.02), 1)
    line("p", n, shift, wilcox.test(x, mu = shift, alternative = "greater", exact = TRUE)$p.value, x)
}
for (k in 1:80) {
    n <- sample(c(8, 12, 20, 40), 1)
    alpha <- sample(c(0.01, 0.02, 0.05, 0.1), 1)
    if (n == 8) alpha <- 0.05
    x <- rt(n, 3) * 0.02
    w <- wilcox.test(x, conf.int = TRUE, conf.level = 1 - alpha, exact = TRUE)
    walsh <- outer(x, x, "+") / 2
    line("interval", n, alpha, median(walsh[lower.tri(walsh, diag = TRUE)]), w$conf.int[1], w$conf.int[2], x)
}
for (k in 1:6) {
    n <- c(30, 20, 40)[1 + k %% 3]
    alpha <- c(0.05, 0.2)[1 + k %% 2]
    x <- rnorm(n)
    take <- function() {
        y <- sample(x, n, replace = TRUE)
        walsh <- outer(y, y, "+") / 2
        median(walsh[lower.tri(walsh, diag = TRUE)])
    }
    b <- replicate(20000, take())
    line("bootstrap", n, alpha, quantile(b, c(alpha / 2, 1 - alpha / 2)), x)
}
