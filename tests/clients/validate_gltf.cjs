// node validate_gltf.cjs FOLDER_WITH_NODE_MODULES FILE.glb REPORT.json
const fs = require("fs");
const path = require("path");
const [packages, file, output] = process.argv.slice(2);
const validator = require(path.join(packages, "node_modules", "gltf-validator"));
validator
  .validateBytes(new Uint8Array(fs.readFileSync(file)))
  .then((report) => fs.writeFileSync(output, JSON.stringify(report)));
