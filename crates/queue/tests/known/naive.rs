//! RED as ns-2.35 does it, written down once more: from a list of what that
//! program does [Ns2], with plain numbers, seconds and a plain list, and nothing
//! from the crate. It need not be fast, only right.

use crate::statistics::Chance;

pub(crate) struct Parameters {
    pub(crate) bandwidth: f64,
    pub(crate) mean_size: f64,
    pub(crate) limit: f64,
    pub(crate) thresh: f64,
    pub(crate) maxthresh: f64,
    pub(crate) q_weight: f64,
    pub(crate) max_p: f64,
    pub(crate) gentle: bool,
    pub(crate) wait: bool,
    pub(crate) adaptive: bool,
    pub(crate) drop_front: bool,
    /// Whether the queue, its average, both thresholds and the limit are in
    /// bytes. Thresholds and limit are given in packets of the mean size then.
    pub(crate) bytes: bool,
}

pub(crate) struct NaiveRed {
    p: Parameters,
    coin: Chance,
    ave: f64,
    cur_max_p: f64,
    v_c: f64,
    v_d: f64,
    count: f64,
    count_bytes: f64,
    old: bool,
    idle: bool,
    idletime: f64,
    lastset: f64,
    free: f64,
    /// Number and size of those that wait.
    waiting: Vec<(u64, f64)>,
    pub(crate) sent: Vec<u64>,
    pub(crate) dropped: Vec<u64>,
}

impl NaiveRed {
    pub(crate) fn new(mut p: Parameters, seed: u64) -> Self {
        if p.bytes {
            p.limit *= p.mean_size;
            p.thresh *= p.mean_size;
            p.maxthresh *= p.mean_size;
        }
        Self {
            coin: Chance::new(seed),
            ave: 0.0,
            cur_max_p: p.max_p,
            v_c: (1.0 - p.max_p) / p.maxthresh,
            v_d: 2.0 * p.max_p - 1.0,
            count: 0.0,
            count_bytes: 0.0,
            old: false,
            idle: true,
            idletime: 0.0,
            lastset: 0.0,
            free: 0.0,
            waiting: Vec::new(),
            sent: Vec::new(),
            dropped: Vec::new(),
            p,
        }
    }

    /// Transmissions that end by `now` make room for the next.
    pub(crate) fn until(&mut self, now: f64) {
        while !self.idle && self.free <= now {
            if self.waiting.is_empty() {
                self.idle = true;
                self.idletime = self.free;
            } else {
                let (number, size) = self.waiting.remove(0);
                self.sent.push(number);
                self.free += size * 8.0 / self.p.bandwidth;
            }
        }
    }

    pub(crate) fn arrive(&mut self, now: f64, number: u64, size: f64) {
        self.until(now);
        let qlen = match self.p.bytes {
            true => self.waiting.iter().map(|packet| packet.1).sum(),
            false => self.waiting.len() as f64,
        };
        let was_idle = self.idle;
        let mut m = 0.0;
        if self.idle {
            let ptc = self.p.bandwidth / (8.0 * self.p.mean_size);
            m = (ptc * (now - self.idletime)).floor();
            self.idle = false;
        }
        let w = self.p.q_weight;
        self.ave = self.ave * (1.0 - w).powf(m + 1.0) + w * qlen;
        if self.p.adaptive && now > self.lastset + 0.5 {
            self.adapt(now);
        }
        self.count += 1.0;
        self.count_bytes += size;
        let mut early = false;
        if self.ave >= self.p.thresh && qlen > 1.0 {
            if self.old {
                early = self.drop_early(size);
            } else {
                self.count = 1.0;
                self.count_bytes = size;
                self.old = true;
            }
        } else {
            self.old = false;
        }
        if qlen >= self.p.limit {
            self.count = 0.0;
            self.count_bytes = 0.0;
            self.waiting.push((number, size));
            let last = self.waiting.len() - 1;
            let victim = if self.p.drop_front { last.min(1) } else { last };
            self.dropped.push(self.waiting.remove(victim).0);
        } else if early {
            self.dropped.push(number);
        } else if was_idle {
            self.sent.push(number);
            self.free = now + size * 8.0 / self.p.bandwidth;
        } else {
            self.waiting.push((number, size));
        }
    }

    fn adapt(&mut self, now: f64) {
        let part = 0.4 * (self.p.maxthresh - self.p.thresh);
        if self.ave < self.p.thresh + part && self.cur_max_p > 0.01 {
            self.cur_max_p *= 0.9;
            self.lastset = now;
        } else if self.ave > self.p.maxthresh - part && self.cur_max_p < 0.5 {
            self.cur_max_p += f64::min(0.01, self.cur_max_p / 4.0);
            self.lastset = now;
        }
    }

    fn drop_early(&mut self, size: f64) -> bool {
        let b = if self.ave < self.p.maxthresh {
            self.cur_max_p * (self.ave - self.p.thresh) / (self.p.maxthresh - self.p.thresh)
        } else if self.p.gentle {
            f64::min(self.v_c * self.ave + self.v_d, 1.0)
        } else {
            1.0
        };
        let count = match self.p.bytes {
            true => (self.count_bytes / self.p.mean_size).floor(),
            false => self.count,
        };
        let product = count * b;
        let mut a = match self.p.wait {
            true if product < 1.0 => 0.0,
            true if product < 2.0 => b / (2.0 - product),
            false if product < 1.0 => b / (1.0 - product),
            _ => 1.0,
        };
        if self.p.bytes && a < 1.0 {
            a = a * size / self.p.mean_size;
        }
        let drop = self.coin.uniform() <= a;
        if drop {
            self.count = 0.0;
            self.count_bytes = 0.0;
        }
        drop
    }
}
