// The fixed sequences that the campaigns of model.ts begin with, as a failure prints them: deed, number, word and instance of each step.
/** Sequences that failed once, kept as regression tests. The last two have each kind of step. */
export const examples = [
  "dispute:0:all:0,dispute:3:all:1,refund:2:all:0,resolve:0:won:0,resolve:1:won:0,refund:3:one:0,dispute:3:one:0,run:0::0",
  "restart:0::0,refund:2:half:0,dispute:2:all:1,advance:0:604800:0,repeat:0:same:1",
  "refund:2:half:0,run:0::0,return:0::0,repeat:1:same:1,late:0:failed:1,restart:0::1,run:0::1,advance:0:86400:0,repeat:3:changed:1",
  "cancel:0::0,refund:2:half:1,late:0:succeeded:0,create:4001:qris IDR 1800:1,cancel:0::1,create:4000:va IDR 7200 again:0,freeze:0:USD:0,refund:2:all:1,run:0::0,pay:0::0,thaw:0:USD:1,pay:0::1,refund:4:over:0,refund:4:foreign:1,repeat:0:same:1,restart:1::1,repeat:1:changed:0,advance:0:604800:1,repeat:5:same:0",
  "create:300000:card IDR 1800 slow:0,simulate:0:processing:1,simulate:0:failed:0,create:1:qris IDR 7200:1,advance:0:7200:0,simulate:0:succeeded:0,dispute:4:half:0,evidence:0::0,resolve:0:lost:1,dispute:5:one:1,resolve:0:withdrawn:0,dispute:3:over:0,refund:3:half:1,late:0:failed:0,run:0::1,return:0::0,return:0::1,run:0::0,advance:0:3600:1,pay:0::0,restart:0::0",
];

/** Groups for `atOnce`, in which each kind of step meets others, and each instance is restarted once. */
export const crowd: readonly (readonly [steps: string, restarted: number])[] = [
  [
    "cancel:0::0,simulate:0:failed:1,refund:0:half:0,refund:0:all:1,dispute:0:half:1,create:4001:va IDR 7200:0,run:0::1,repeat:0:same:1",
    0,
  ],
  [
    "late:0:succeeded:0,late:0:failed:1,evidence:0::0,resolve:0:lost:0,resolve:0:won:1,pay:0::0,return:0::1,freeze:0:IDR:0,refund:1:one:1",
    1,
  ],
  [
    "thaw:0:IDR:1,simulate:0:succeeded:0,simulate:0:processing:1,create:900:qris IDR 1800 again:0,advance:0:600:1,run:0::0,pay:0::1",
    9,
  ],
];
