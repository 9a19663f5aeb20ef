import type { Clock } from '../base/clock.ts'
import type { SubmissionDriver } from './driver.ts'
import { runSubmission } from './run-submission.ts'
import { treeStore } from './tree-blobs.ts'

/** Drives submissions right here. An expression that runs for long keeps everything else waiting. */
export const localDriver = (clock: Clock): SubmissionDriver => ({
  run: (run, { blobs, runStep, runsImages, ended, signal }) =>
    runSubmission(run, {
      trees: treeStore(blobs, 'sha256'),
      clock,
      runStep,
      runsImages: async (inPlaces) => runsImages(inPlaces),
      ended,
      signal,
    }),
  async close() {},
})
