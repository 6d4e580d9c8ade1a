"""How the pipeline of the model stages uses what models answer, on labelled memories."""
