/* Onceward's protocol, one key.  R request handlers (first attempt + duplicates/retries, any instance, any timing),
 * one PostgreSQL row (arbiter), one Redis gate entry (hint), an upstream with no idempotency, a lease cleaner.
 * A lease may expire at ANY moment, so every live holder is a potential zombie (clock jump, GC/VM pause, SIGSTOP).
 * Options : SPLIT (RSV -> PEND before first byte)  PROBE (status probe resolves UNK)  REEXEC (route says upstream safe)
 * Mutants : M_xxx, each a protocol bug that some assertion or the liveness claim must catch.                      */
#ifndef R
#define R 3
#endif
#ifndef MAXC
#define MAXC 1
#endif
#ifndef MAXF
#define MAXF 1
#endif
mtype = { NONE, RSV, PEND, DONE, UNK, G0, GP, GD, A0, AR, ARST, O0, OBUSY, OFAIL };
mtype st = NONE, rst = NONE, gate = G0;       /* row, replica row, gate            */
byte epoch, repoch, resp, rresp, owner, gresp;
byte execs, firstr, nfin, crashes, faults, nprep;
bool calm, ackdone, failed, ended, partial_replied;
bool sentany;                                  /* ghost: some first byte may have left */
chan net = [R+1] of { byte };
mtype ans[R+1] = A0; byte ansr[R+1]; mtype out[R+1] = O0;

#ifdef M_ASYNC
#define SYNC skip
#else
#define SYNC rst = st; repoch = epoch; rresp = resp
#endif
#ifdef M_NOFENCE
#define MINE (st == PEND)
#define MINE2 true
#else
#define MINE (st == PEND && epoch == my)
#define MINE2 ((st == PEND || st == UNK) && epoch == my)
#endif
#ifndef REEXEC
#define AMO (execs <= 1)                        /* at most one upstream execution per key */
#else
#define AMO true
#endif
#ifdef SPLIT
#define FRESH RSV
#else
#define FRESH PEND
#endif
#define CRASH if :: atomic { !clean && crashes < MAXC -> crashes++; goto dead } :: true fi

proctype H(byte id; bool clean) {
  byte my = 0, r = 0, ok = 0; bool prep = false;
#ifdef M_ARBITER                               /* Redis decides; DB written afterwards, best effort */
  atomic { if :: gate == GD -> r = gresp; goto reply :: gate == GP -> out[id] = OBUSY; goto fin :: gate == G0 -> gate = GP fi }
  CRASH;
  atomic { if :: st = PEND; epoch++; my = epoch; SYNC :: !clean && faults < MAXF -> faults++; out[id] = OFAIL; goto fin fi }
  goto send;
#else
  atomic { if :: gate == GD -> r = gresp; goto reply
#if defined(GATEHINT) || defined(M_SETNX_LOST)
              :: gate == GP -> out[id] = OBUSY; goto fin
              :: gate == G0 -> gate = GP          /* SET NX PX ttl */
#else
              :: gate != GD -> skip
#endif
           fi };
#if defined(GATEHINT) || defined(M_SETNX_LOST)
  CRASH;
#endif
#endif
#ifdef M_SEND_FIRST                            /* forward before the reservation is committed */
  net!id; CRASH;
#endif
reserve:
  atomic {
    if
    :: st == NONE ->
       if
       :: st = FRESH; epoch++; owner = id; my = epoch; ok = 1; nprep++; prep = true; SYNC
       :: !clean && faults < MAXF -> faults++; st = FRESH; epoch++; owner = id; ok = 2; SYNC   /* committed, ack lost */
       :: !clean && faults < MAXF -> faults++; ok = 3                                    /* not committed       */
       fi
    :: st == DONE -> r = resp; ok = 4
    :: st == PEND || st == RSV -> ok = 5
    :: st == UNK -> ok = 6
    fi }
  CRASH;
  if
  :: ok == 1 -> skip
  :: ok == 2 -> atomic { if :: st == FRESH && owner == id -> my = epoch; nprep++; prep = true :: else -> out[id] = OFAIL; goto fin fi }
#ifdef M_OPTIMISTIC
  :: ok == 3 -> my = epoch
#else
  :: ok == 3 -> out[id] = OFAIL; goto fin      /* nothing was sent; client may retry */
#endif
  :: ok == 4 -> goto reply
#ifdef M_FALSE_SUCCESS
  :: ok == 5 -> r = 77; goto reply
#else
  :: ok == 5 -> out[id] = OBUSY; goto fin
#endif
  :: ok == 6 -> out[id] = UNK; goto fin
  fi;
#ifdef SPLIT
  atomic { if :: st == RSV && epoch == my -> st = PEND; sentany = true; SYNC :: else -> goto lost fi }
  CRASH;
#endif
#ifdef M_SEND_FIRST
  goto await;
#endif
send:
  if
  :: atomic { net!id; sentany = true; if :: prep -> prep = false; nprep-- :: else -> skip fi }
  :: atomic { !clean ->                        /* connect refused: provably nothing sent -> release */
       if :: prep -> prep = false; nprep-- :: else -> skip fi;
       if :: MINE -> st = NONE; gate = G0; SYNC :: else -> skip fi; out[id] = OFAIL; goto fin }
  fi;
  CRASH;
await:
  if
  :: ans[id] == AR -> r = ansr[id]
  :: ans[id] == ARST -> goto ambiguous
  :: !clean -> goto ambiguous                  /* timeout */
  fi;
complete:
#ifdef M_PUBLISH_FIRST
  atomic { gate = GD; gresp = r }; CRASH;
#endif
#ifdef M_REPLY_FIRST
  atomic { out[id] = DONE; ackdone = true; if :: firstr == 0 -> firstr = r :: else -> assert(r == firstr) fi }; CRASH;
#endif
  atomic {
    if
    :: MINE2 ->
       if
       :: st = DONE; resp = r; ok = 1; SYNC
       :: !clean && faults < MAXF -> faults++; st = DONE; resp = r; ok = 3; SYNC
       :: !clean && faults < MAXF -> faults++; ok = 3
       fi
    :: !(MINE2) && st == DONE && epoch == my && resp == r -> ok = 1    /* own earlier commit, ack was lost */
    :: else -> ok = 0
    fi }
  CRASH;
  if
  :: ok == 1 -> skip
  :: ok == 3 -> goto complete                  /* idempotent CAS, so repeat it */
  :: ok == 3 -> out[id] = UNK; goto fin        /* gave up: never claim success */
  :: ok == 0 -> goto lost
  fi;
  atomic { gate = GD; gresp = r };
reply:
  atomic { out[id] = DONE; ackdone = true; assert(execs >= 1);
           if :: firstr == 0 -> firstr = r :: else -> assert(r == firstr) fi };
  goto fin;
lost:                                          /* fenced: only what is recorded may be told */
  atomic { if :: st == DONE -> r = resp; goto reply :: st == UNK -> out[id] = UNK :: else -> out[id] = OBUSY fi };
  goto fin;
ambiguous:
#ifdef M_AUTORETRY
  if :: ans[id] == ARST -> ans[id] = A0; goto send :: else -> skip fi;
#endif
#ifdef M_RESET_RELEASE
  atomic { if :: MINE -> st = NONE; SYNC :: else -> skip fi; out[id] = OFAIL };
#else
#ifdef M_PARTIAL_DONE                          /* truncated body recorded as the response */
  r = 99; goto complete;
#endif
  atomic { if :: MINE -> st = UNK; SYNC :: else -> skip fi; out[id] = UNK };
#endif
  goto fin;
dead: skip;                                    /* instance crashed: client sees a reset */
fin: atomic { if :: prep -> prep = false; nprep-- :: else -> skip fi; nfin++ }
}

active proctype Upstream() { byte h;
  do
#ifdef M_PROBE_BUSY                            /* probe ignores a request the upstream is still working on */
  :: net?h -> atomic {
#else
  :: atomic { net?h ->                         /* a message in net = on the wire or being worked on upstream */
#endif
       if
       :: execs++; assert(AMO); ansr[h] = execs; if :: ans[h] = AR :: !calm -> ans[h] = ARST :: !calm -> skip fi
       :: !calm -> ans[h] = ARST
       :: !calm -> skip
       fi }
  :: ended && empty(net) -> break
  od }

active proctype Cleaner() {                    /* lease expiry: enabled at any time */
  do
  :: atomic { st == PEND && !ended && owner != R ->   /* the fault-free probe request keeps its lease */
#ifdef M_DELETE
       st = NONE; epoch = 0; SYNC }
#else
#if defined(M_STEAL) || defined(REEXEC)
       st = NONE; SYNC }
#else
#ifdef M_NOCLEAN
       false }
#else
       st = UNK; SYNC }
#endif
#endif
#endif
#ifdef SPLIT
  :: atomic { st == RSV && !ended && owner != R -> st = NONE; SYNC }
#endif
  :: ended -> break
  od }

#ifdef PROBE
active proctype Probe() {
  do
#ifdef M_PROBE_EARLY
  :: atomic { st == UNK && !ended -> 
#else
  :: atomic { st == UNK && !ended && nprep == 0 && empty(net) ->
#endif
       if :: execs > 0 -> st = DONE; resp = 100 + execs; SYNC
          :: execs == 0 -> st = NONE; SYNC fi }
  :: ended -> break
  od }
#endif

active proctype Redis() {                      /* FLUSHALL / eviction / fail-over once */
  if :: atomic { !calm -> gate = G0 } :: calm fi }

active proctype Failover() {                   /* promote the replica once */
  if :: atomic { !calm -> st = rst; epoch = repoch; resp = rresp; failed = true } :: calm fi }
#ifdef M_ASYNC
active proctype Repl() { do :: atomic { !failed && (rst != st || repoch != epoch || rresp != resp) -> rst = st; repoch = epoch; rresp = resp } :: failed || ended -> break od }
#endif
#ifdef M_RETENTION
active proctype GC() { if :: atomic { st == DONE && !calm -> st = NONE; gate = G0; SYNC } :: calm fi }
#endif

init {
  byte i;
  atomic { i = 0; do :: i < R -> run H(i, false); i++ :: else -> break od };
  (nfin == R && empty(net)); calm = true;      /* faults stop: recovery liveness */
  (st != PEND && st != RSV);                   /* cleaner must drain             */
#ifdef GATEHINT
  atomic { if :: gate == GP -> gate = G0 :: else -> skip fi };   /* hint TTL elapsed */
#endif
#ifdef PROBE
  (st != UNK);
#endif
  run H(R, true); (nfin == R + 1);
  assert(out[R] == DONE || out[R] == UNK);     /* never "in progress" for ever, never lost */
#ifdef PROBE
  assert(out[R] == DONE);
#endif
  assert(!ackdone || out[R] == DONE);          /* acknowledged completion survives */
#ifdef SPLIT
  assert(out[R] != UNK || sentany);            /* UNKNOWN only after the mark-sent commit */
#endif
  assert(out[R] != DONE || execs >= 1);
  ended = true
}
#ifdef LIVE
ltl live { <> ended }
#endif
#ifdef DONEST
ltl donest { [] ((st == DONE) -> [] (st == DONE)) }
#endif
