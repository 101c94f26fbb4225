"""The models and shapes that engines are compared on."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Case:
    model: str  # a directory of the model repository
    inputs: dict  # name -> dims without the batch
    batch: int

    @property
    def name(self):
        return f"{self.model}, {self.batch}"

    def dims(self):
        return {name: [self.batch, *rest] for name, rest in self.inputs.items()}


DET = {"x": [3, 736, 736]}
REC = {"x": [3, 48, 320]}
CLS = {"x": [3, 48, 192]}
IMAGE = {"input": [3, 224, 224]}
TOKENS = {"input_ids": [128], "attention_mask": [128], "token_type_ids": [128]}

CASES = [
    Case("ocr_det", DET, 1),
    Case("ocr_rec", REC, 1),
    Case("ocr_rec", REC, 8),
    Case("ocr_cls", CLS, 1),
    Case("ocr_cls", CLS, 8),
    Case("minilm", TOKENS, 1),
    Case("minilm", TOKENS, 8),
    Case("resnet50", IMAGE, 1),
    Case("resnet50", IMAGE, 8),
]
