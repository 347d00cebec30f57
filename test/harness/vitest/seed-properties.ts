// Runs before the tests of each file. Properties try the same values in every run, so that a run fails because of a change and not by chance.
// `TEST_SEED=NUMBER npm run test:unit` tries other values; what it finds becomes a named test.
import fc from "fast-check";

const USUAL_SEED = 20_260_716;

const given = process.env["TEST_SEED"];
const seed = given === undefined ? USUAL_SEED : Number(given);
if (!Number.isInteger(seed)) throw new Error(`TEST_SEED=${given}: a whole number is expected, e.g. TEST_SEED=7`);
fc.configureGlobal({ seed });
